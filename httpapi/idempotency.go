package httpapi

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"unicode/utf8"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api/problem"
)

const idempotencyHeader = "Idempotency-Key"

// readKey reads the idempotency key of a request, if it has one.
func (c *call) readKey(body []byte) error {
	key := c.r.Header.Get(idempotencyHeader)
	if key == "" || !c.op.writes() {
		return nil
	}
	if len(key) > rota.KeyMax || !utf8.ValidString(key) {
		return problem.Malformed(idempotencyHeader, "must be UTF-8 text of at most %d bytes", rota.KeyMax)
	}
	c.key = key
	c.hash = c.requestHash(body)
	return nil
}

// secretIterations is the cost of the hash of a body that may contain a password or a secret: a few milliseconds, and only for a request with
// a key.
const secretIterations = 4096

// requestHash distinguishes requests with the same key. It is stored for a day, and in backups. A password or
// a secret must not be easier to guess from it than from the verifier of a password, so it takes as many iterations.
func (c *call) requestHash(body []byte) string {
	if c.op.secret {
		slow, _ := pbkdf2.Key(sha256.New, string(body), []byte(c.key), secretIterations, sha256.Size) // it fails for impossible lengths only
		body = slow
	}
	h := sha256.New()
	for _, part := range [][]byte{[]byte(c.r.Method), []byte(c.r.URL.RequestURI()), body} {
		h.Write(part)
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// bindKey binds the key of a request to the id of its first command, just before that command is sent.
// A request that is refused earlier leaves its key free. A repeated request gets the id of its first
// sending, so that its commands are the same and take effect once.
func (c *call) bindKey() error {
	if c.key == "" || c.keyBound {
		return nil
	}
	c.ensureCommandID()
	remembered, err := c.remember(rota.Batch{}, c.commandID)
	if rota.CodeOf(err) == rota.Conflict {
		return problem.New(rota.Conflict, idempotencyHeader, "use a new key for each request, and repeat a key only with the same request",
			"was used for another request in the last 24 hours")
	}
	if err != nil {
		return err
	}
	c.commandID, c.replay, c.keyBound = remembered.Command, remembered.Known, true
	return nil
}

// isReplay reports whether a refused request was valid when it was first sent. In that case the
// handler is called again without validation and returns what the request created, even if definitions
// have changed since.
//
// It asks as of a time so long ago that a free key stays free now, and with the id of no command, so
// that an earlier query is not mistaken for a request.
func (c *call) isReplay(refusal error) bool {
	if c.key == "" || c.keyBound || problemOf(refusal).Status >= http.StatusInternalServerError {
		return false
	}
	remembered, err := c.remember(rota.Batch{Now: c.Clock().Add(-2 * rota.RequestKeep)}, noCommand)
	if err != nil || !remembered.Known {
		return false
	}
	c.commandID, c.replay, c.keyBound, c.commandCount = remembered.Command, true, true, 0
	return true
}

// noCommand is an id that no command has.
var noCommand = rota.ID{6: 0x70, 8: 0x80}

// remember binds the key to a command, or returns the command that it is bound to.
func (c *call) remember(b rota.Batch, command rota.ID) (*rota.Remembered, error) {
	b.Commands = []rota.Command{&rota.Remember{Meta: rota.NewMeta(c.actor), Key: c.key, Hash: c.hash, Command: command}}
	results, err := c.Store.Apply(c.ctx, b)
	if err != nil {
		return nil, err
	}
	if results[0].Err != nil {
		return nil, results[0].Err
	}
	return results[0].Reply.(*rota.Remembered), nil
}

// scheduleChanged reports whether a replayed command has already changed a schedule. It sends a
// command with the same id that could not succeed by itself, because the original change may not fit
// the current schedule.
func (c *call) scheduleChanged(meta rota.Meta, s *rota.Schedule) bool {
	command, err := rota.Declare(meta, s.Name, s.Spec, c.Clock())
	if err != nil {
		return false
	}
	command.Mode, command.Version = rota.PutReplace, new(rota.NewID())
	_, err = do[*rota.SchedulePut](c, command)
	return err == nil
}

// templateChanged is scheduleChanged for a template.
func (c *call) templateChanged(meta rota.Meta, t *rota.Template) bool {
	_, err := do[*rota.TemplatePut](c, &rota.PutTemplate{
		Meta: meta, Name: t.Name, Mode: rota.PutReplace, Version: new(rota.NewID()), Spec: t.Spec,
	})
	return err == nil
}
