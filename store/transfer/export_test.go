package transfer

// SetPage sets the size of a page for a test.
func (o *Options) SetPage(rows, bytes int) { o.pageRows, o.pageBytes = rows, bytes }
