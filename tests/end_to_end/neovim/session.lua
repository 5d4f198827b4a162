-- One session of a user with the configuration of docs/editors.md, without a screen. test_neovim.py starts it with a
-- script on the command line and reads what is printed. An error ends Neovim with exit code 1.
-- Rows count from 0.
local region_row, inside_row, made_row = tonumber(vim.env.REGION_ROW), tonumber(vim.env.INSIDE_ROW), tonumber(vim.env.MADE_ROW)

local function say(what, text) io.stdout:write(what, ': ', (text:gsub('\n', '\\n')), '\n') end

local function wait_for(what, holds, timeout)
  local found
  if not vim.wait(timeout or 60000, function()
    found = holds()
    return found
  end, 20) then
    error(('no %s\nmessages: %s'):format(what, vim.fn.execute('messages')), 0)
  end
  return found
end

local function press(keys)
  vim.cmd('let &undolevels = &undolevels') -- keys that come without a pause would be one change for undo
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'mx', false)
end

local function messages() return vim.fn.execute('messages') end

local function session()
  local buffer, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  local function go_to(row) vim.api.nvim_win_set_cursor(window, { row + 1, 0 }) end
  local function row() return vim.api.nvim_win_get_cursor(window)[1] - 1 end

  -- What is drawn, from the marks of the screen: the hint inside of the line, the lenses behind it.
  local function drawn(in_namespace, at_row)
    for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
      if vim.startswith(name, in_namespace) then
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, { at_row, 0 }, { at_row, -1 }, { details = true })) do
          local texts = vim.tbl_map(function(chunk) return chunk[1] end, mark[4].virt_text or {})
          return table.concat(texts)
        end
      end
    end
  end
  local function lenses(at_row) return drawn('nvim.lsp.codelens', at_row) or '' end
  local function hints()
    local found = {}
    for _, each in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
      local parts = vim.tbl_map(function(part) return part.value end, each.inlay_hint.label)
      found[each.inlay_hint.position.line] = table.concat(parts)
    end
    return found
  end
  -- These keys show a menu, if there is more than one thing to choose; here the menu's choice.
  local function press_and_choose(keys, title)
    local offered
    vim.ui.select = function(items, options, on_choice)
      offered = vim.tbl_map(options.format_item, items)
      for index, each in ipairs(offered) do
        if each == title then return on_choice(items[index], index) end
      end
      error(('no %s, but %s'):format(title, table.concat(offered, ', ')), 0)
    end
    press(keys)
  end
  local function press_lens(title) press_and_choose('<leader>kl', title) end

  wait_for('client', function()
    local client = vim.lsp.get_clients({ bufnr = buffer, name = 'kinetoscope' })[1]
    return client and client.initialized
  end)
  say('filetype', vim.bo.filetype)
  wait_for('lens', function() return lenses(region_row) ~= '' end)
  say('lenses', lenses(region_row))
  assert(vim.tbl_isempty(hints()), 'hints before a run')

  -- A run, from the lens.
  go_to(region_row)
  press_lens('▷ Profile')
  wait_for('lens to cancel', function() return lenses(region_row):find('Cancel', 1, true) end)
  wait_for('hint', function() return hints()[region_row] end, 60000)
  wait_for('hint on the screen', function()
    vim.cmd.redraw()
    return drawn('nvim.lsp.inlayhint', region_row)
  end)
  say('hint', hints()[region_row])
  say('drawn', vim.trim(drawn('nvim.lsp.inlayhint', region_row)))
  wait_for('message', function() return messages():find('matmul_add: CPU', 1, true) end)
  wait_for('lenses after the run', function() return lenses(region_row):find('matmul_add.py', 1, true) end)
  say('lenses after', lenses(region_row))

  -- What it says of the region.
  press('K')
  local float = wait_for('hover', function() return vim.b[buffer].lsp_floating_preview end)
  say('hover', table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float), 0, -1, false), '\n'))
  vim.api.nvim_win_close(float, true)

  -- From place to place in the outline, by Neovim's own keys.
  go_to(0)
  press('gO')
  local outline = wait_for('outline', function()
    local found = vim.fn.getloclist(window)
    return #found > 0 and found
  end)
  for _, each in ipairs(outline) do say('symbol', ('%d %s'):format(each.lnum - 1, each.text)) end
  vim.api.nvim_set_current_win(window)
  vim.cmd('ll 1 | lclose')
  say('jumped to', tostring(row()))

  -- The trace, in the browser; the details, in a buffer.
  press_lens('Trace')
  wait_for('link', function() return vim.uv.fs_stat(vim.env.OPENED) end)
  say('opened', vim.trim(table.concat(vim.fn.readfile(vim.env.OPENED))))
  press_lens('Details')
  wait_for('details', function() return vim.api.nvim_get_current_buf() ~= buffer end)
  say('details', vim.fn.expand('%:t') .. ' ' .. table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'))
  vim.api.nvim_win_set_buf(window, buffer)

  -- Editing: the times stay at their region, and wait for the next run when its code changes; undo brings them back.
  go_to(0)
  press('O# a line more<Esc>')
  wait_for('moved hint', function() return hints()[region_row + 1] and not hints()[region_row] end)
  say('moved hint', hints()[region_row + 1])
  go_to(inside_row + 1)
  press('A + 0<Esc>')
  say('stale', wait_for('stale hint', function()
    local found = hints()[region_row + 1]
    return found and vim.startswith(found, '~ ') and found
  end))
  press('u')
  say('undone', wait_for('hint after undo', function()
    local found = hints()[region_row + 1]
    return found and not vim.startswith(found, '~ ') and found
  end))

  -- Again, with a changed buffer: it is written first, and what is shown is of the text as it is.
  press('A + 0<Esc>')
  wait_for('stale hint', function() return vim.startswith(hints()[region_row + 1] or '', '~ ') end)
  assert(vim.bo.modified)
  vim.cmd('messages clear')
  press('<leader>kf')
  say('hint again', wait_for('hint of the second run', function()
    local found = hints()[region_row + 1]
    return found and not vim.startswith(found, '~ ') and found
  end, 60000))
  assert(not vim.bo.modified, 'the buffer was not written')
  wait_for('second message', function() return messages():find('matmul_add: CPU', 1, true) end)
  say('messages', messages())

  -- What the run found elsewhere in the file, and on to it.
  local diagnostics = wait_for('diagnostics', function()
    local found = vim.diagnostic.get(buffer)
    return #found > 0 and found
  end)
  for _, each in ipairs(diagnostics) do say('diagnostic', ('%d %s %s'):format(each.lnum, each.code, each.message)) end
  go_to(0)
  press(']d')
  say('next finding', tostring(row()))

  -- A region around selected lines and its removal, from Neovim's own menu; each is one change for undo.
  local function text() return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') end
  local before, with = text(), 'with record_function("randn"):'
  local function wait_for_region() wait_for('region', function() return text():find(with, 1, true) end) end
  local function wait_for_none() wait_for('text from before', function() return text() == before end) end
  go_to(made_row + 1)
  press_and_choose('Vjgra', 'Measure this block')
  wait_for_region()
  say('wrapped', table.concat(vim.api.nvim_buf_get_lines(buffer, made_row + 1, made_row + 4, false), '\n'))
  press('<Esc>u') -- the lines are still selected
  wait_for_none()
  press('<C-r>')
  wait_for_region()
  go_to(made_row + 1)
  press_and_choose('gra', 'Remove the region: randn')
  wait_for_none()
end

local ok, failure = xpcall(session, function(failure)
  return type(failure) == 'string' and debug.traceback(failure) or vim.inspect(failure)
end)
if not ok then
  io.stderr:write(failure, '\n')
  vim.cmd('cquit 1')
end
vim.cmd('qall!')
