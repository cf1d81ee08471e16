//go:build !unix

package postgres

import "net"

// canPeek says that this machine cannot be asked.
const canPeek = false

func isQuiet(net.Conn) bool { return true }
