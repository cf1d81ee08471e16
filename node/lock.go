package node

import (
	"fmt"
	"io"
	"strings"

	"github.com/rotajobs/rota"
)

// heldBy is the error for a data directory that another process holds.
func heldBy(data string, lock io.Reader) error {
	holder := "another server"
	if text, err := io.ReadAll(io.LimitReader(lock, 32)); err == nil && len(text) > 0 {
		holder = "the server with process id " + strings.TrimSpace(string(text))
	}
	return &rota.Error{
		Code: rota.Busy, Act: "data directory " + data, Reason: fmt.Sprintf("it is held by %s", holder),
		Hint: "stop that server, or choose another directory with --data DIR",
	}
}
