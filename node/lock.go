package node

import (
	"fmt"
	"io"
	"strings"

	"github.com/rotajobs/rota"
)

// heldBy names the process that holds a data directory.
func heldBy(data string, lock io.Reader) error {
	holder := "another server"
	if text, err := io.ReadAll(io.LimitReader(lock, 32)); err == nil && len(text) > 0 {
		holder = "the server with process number " + strings.TrimSpace(string(text))
	}
	return &rota.Error{
		Code: rota.Busy, Act: "data directory " + data, Reason: fmt.Sprintf("it is held by %s", holder),
		Hint: "stop that one, or give this one another directory with --data DIR",
	}
}
