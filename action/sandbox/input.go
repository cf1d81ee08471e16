package sandbox

import (
	"io"
	"os"
	"os/exec"
)

// inputPipe sets the standard input of a process. It returns where to copy the input, nil if there is nothing to copy.
func inputPipe(cmd *exec.Cmd, from io.Reader) (io.WriteCloser, error) {
	switch in := from.(type) {
	case nil:
		return nil, nil
	case *os.File:
		cmd.Stdin = in
		return nil, nil
	}
	return cmd.StdinPipe()
}

// copyInput ignores errors: a program need not read its input.
func copyInput(to io.WriteCloser, from io.Reader) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}
