package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

const idempotencyHeader = "Idempotency-Key"

// remember ties the key of a request, if it has one, to the id of its command. A
// request that was sent before gets the id it had then, so that its commands are
// the same and are not done twice.
func (c *call) remember(body []byte) error {
	key := c.r.Header.Get(idempotencyHeader)
	if key == "" || !c.op.writes() {
		return nil
	}
	if len(key) > rota.KeyMax || !utf8.ValidString(key) {
		return malformed(idempotencyHeader, "is not a text of at most %d bytes", rota.KeyMax)
	}
	said, err := rota.Do[*rota.Remembered](c.ctx, c.Store, &rota.Remember{
		Meta: rota.NewMeta(c.actor), Key: key, Hash: c.hash(body), Command: rota.NewID(),
	})
	if rota.CodeOf(err) == rota.Conflict {
		return &rota.Error{
			Code: rota.Conflict, Field: idempotencyHeader, Reason: "was used for another request in the last 24 hours",
			Hint: "send each request under a key of its own, and the same request under the same",
		}
	}
	if err != nil {
		return err
	}
	c.command, c.known = said.Command, said.Known
	return nil
}

// hash tells two requests apart.
func (c *call) hash(body []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(c.r.Method), []byte(c.r.URL.RequestURI()), body} {
		h.Write(part)
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}
