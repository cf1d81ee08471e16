package pgwire

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"sync"
)

// keys are the numbers by which a connection's statement is cancelled from another
// connection, which proves nothing else.
type keys struct {
	mu    sync.Mutex
	conns map[uint32]*conn
}

// key is a connection's: a number that names it and one that only its client knows.
type key struct {
	process uint32
	secret  [4]byte
}

// take gives a connection its key.
func (k *keys) take(c *conn) key {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		var random [8]byte
		_, _ = rand.Read(random[:]) // it never fails
		mine := key{process: binary.BigEndian.Uint32(random[:]) & 0x7FFFFFFF, secret: [4]byte(random[4:])}
		if _, taken := k.conns[mine.process]; taken || mine.process == 0 {
			continue
		}
		k.conns[mine.process] = c
		return mine
	}
}

func (k *keys) give(mine key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.conns, mine.process)
}

// cancel ends the statement of the connection that a request names, if it has the
// secret. Nobody is told whether it had.
func (k *keys) cancel(request []byte) {
	if len(request) != 8 {
		return
	}
	k.mu.Lock()
	c := k.conns[binary.BigEndian.Uint32(request)]
	k.mu.Unlock()
	var secret [4]byte
	if c != nil {
		secret = c.key.secret
	}
	if subtle.ConstantTimeCompare(secret[:], request[4:]) == 1 && c != nil {
		c.cancel()
	}
}
