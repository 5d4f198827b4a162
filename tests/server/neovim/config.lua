-- Neovim 0.11 or newer: times beside the regions, lenses above them. `:lua vim.lsp.codelens.run()` clicks a lens.
vim.lsp.config('kinetoscope', {
  cmd = { 'kinetoscope', 'serve' },
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml', '.git' },
  settings = { kinetoscope = {} }, -- docs/lsp.md, "Settings"
})
vim.lsp.enable('kinetoscope')

vim.api.nvim_create_autocmd('LspAttach', {
  callback = function(event)
    local client = assert(vim.lsp.get_client_by_id(event.data.client_id))
    if client.name ~= 'kinetoscope' then return end
    vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
    vim.lsp.codelens.refresh({ bufnr = event.buf })
    -- Neovim 0.11 is not asked to fetch lenses again: it does so when the typing has paused, and when a run is over.
    vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'CursorHold' }, {
      buffer = event.buf,
      callback = function() vim.lsp.codelens.refresh({ bufnr = event.buf }) end,
    })
  end,
})
vim.api.nvim_create_autocmd('LspProgress', {
  pattern = 'end',
  callback = function() vim.lsp.codelens.refresh({ bufnr = 0 }) end,
})
