//go:build unix

package postgres

import (
	"crypto/tls"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// canPeek says that silent can be asked.
const canPeek = true

// isQuiet says that nothing has come over a connection that nobody has asked
// anything of: neither its end nor the reason for it. It asks this machine, and not
// the other.
func isQuiet(conn net.Conn) bool {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	system, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return false
	}
	var peeked error
	err = raw.Control(func(fd uintptr) { // and not Read, which waits for who reads already: pgconn may, in the background
		_, _, peeked = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err == nil && (peeked == unix.EAGAIN || peeked == unix.EWOULDBLOCK)
}
