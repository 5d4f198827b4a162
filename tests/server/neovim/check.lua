-- The server met by Neovim without a screen: nvim --headless -u CONFIG -l check.lua FILE
local file = vim.fn.fnamemodify(assert(_G.arg[1], 'no file'), ':p')

local function wait_for(what, condition, timeout)
  if not vim.wait(timeout or 15000, condition, 20) then error('no ' .. what) end
end

local messages, progress = {}, {}
vim.lsp.handlers['window/showMessage'] = function(_, params) table.insert(messages, params.message) end
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event) table.insert(progress, event.data.params.value.kind) end,
})

vim.cmd.edit(file)
vim.bo.filetype = 'python'
local buffer = vim.api.nvim_get_current_buf()
local function client() return vim.lsp.get_clients({ bufnr = buffer })[1] end
wait_for('client', function() return client() and client().initialized end)
print('encoding ' .. client().offset_encoding)

local function lenses()
  vim.lsp.codelens.refresh({ bufnr = buffer })
  vim.wait(50, function() return false end)
  return vim.lsp.codelens.get(buffer)
end
local function lens(title, line)
  for _, each in ipairs(lenses()) do
    if each.command.title == title and (line == nil or each.range.start.line == line) then return each end
  end
end
local function hints()
  local texts = {}
  for _, found in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
    local parts = vim.tbl_map(function(part) return part.value end, found.inlay_hint.label)
    texts[found.inlay_hint.position.line] = table.concat(parts)
  end
  return texts
end
wait_for('lens', function() return lens('▷ Profile', 7) end)
assert(vim.tbl_isempty(hints()), 'hints before a run')

local click = lens('▷ Profile file')
client():exec_cmd(click.command, { bufnr = buffer })
wait_for('hints', function() return hints()[7] and hints()[9] end, 60000)
print('hint ' .. hints()[7])
wait_for('message', function() return #messages > 0 end)
print('message ' .. messages[1])
wait_for('end of the progress', function() return progress[#progress] == 'end' end)
assert(progress[1] == 'begin', vim.inspect(progress))
wait_for('lens for details', function() return lens('Details', 7) end)
wait_for('diagnostic', function()
  return #vim.tbl_filter(function(each) return each.code == 'region-not-reached' end, vim.diagnostic.get(buffer)) == 1
end)

-- On with the editing: the times move with their line, and wait for the next run when the code changes.
vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { '# a line more' })
wait_for('moved hints', function() return hints()[8] and not hints()[7] end)
vim.api.nvim_buf_set_lines(buffer, 11, 12, false, { '            x = x @ x + 1' })
wait_for('stale hint', function() return vim.startswith(hints()[10] or '', '~ ') end)

local hover = client():request_sync('textDocument/hover', {
  textDocument = { uri = vim.uri_from_bufnr(buffer) }, position = { line = 8, character = 8 },
}, 10000, buffer)
assert(hover and hover.result and hover.result.contents.value:find('CPU total'), vim.inspect(hover))
print('ok')
vim.cmd('qa!')
