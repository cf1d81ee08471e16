package sandbox

import "os"

// Program is an open, checked program.
type Program struct {
	name string // as it was passed to Open
	path string // absolute, without symbolic links
	file *os.File
}

// Path returns the path of the program without symbolic links.
func (p *Program) Path() string { return p.path }

// Close closes the file. Commands that were started are not affected.
func (p *Program) Close() error { return p.file.Close() }
