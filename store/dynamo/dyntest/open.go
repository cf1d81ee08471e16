package dyntest

import "os"

// Open starts a server with its tables in memory, outside of tests.
func Open(kind Kind) (*Server, error) {
	dir, err := os.MkdirTemp("", "rota-dynamo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // the server has its log open
	return open(kind, dir, "")
}

// Close ends a server that Open has started.
func (s *Server) Close() { s.own().kill() }

// Installed reports whether the program of a server is installed.
func Installed(kind Kind) bool {
	_, err := command(kind, 0, "")
	return err == nil
}
