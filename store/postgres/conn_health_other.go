//go:build !unix

package postgres

import "net"

// canPeek is false: isQuiet cannot look at the socket.
const canPeek = false

func isQuiet(net.Conn) bool { return true }
