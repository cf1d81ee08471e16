package pgwire

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"sync"
)

// cancelKeys maps the process IDs of cancel requests to connections. A cancel request arrives
// on a connection of its own, without a login.
type cancelKeys struct {
	mu    sync.Mutex
	conns map[uint32]*conn
}

// cancelKey identifies a connection: a public number, and a secret that only its client knows.
type cancelKey struct {
	process uint32
	secret  [4]byte
}

// register creates the key of a connection.
func (k *cancelKeys) register(c *conn) cancelKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		var random [8]byte
		_, _ = rand.Read(random[:]) // it never fails
		key := cancelKey{process: binary.BigEndian.Uint32(random[:]) & 0x7FFFFFFF, secret: [4]byte(random[4:])}
		if _, taken := k.conns[key.process]; taken || key.process == 0 {
			continue
		}
		k.conns[key.process] = c
		return key
	}
}

func (k *cancelKeys) unregister(key cancelKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.conns, key.process)
}

// cancel cancels the statement of the connection that the request names, if the secret is
// right. The client gets no answer in either case.
func (k *cancelKeys) cancel(request []byte) {
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
