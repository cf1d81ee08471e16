package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

const idempotencyHeader = "Idempotency-Key"

// readKey reads the key of a request, if it has one.
func (c *call) readKey(body []byte) error {
	key := c.r.Header.Get(idempotencyHeader)
	if key == "" || !c.op.writes() {
		return nil
	}
	if len(key) > rota.KeyMax || !utf8.ValidString(key) {
		return malformed(idempotencyHeader, "is not a text of at most %d bytes", rota.KeyMax)
	}
	c.key, c.hash = key, c.requestHash(body)
	return nil
}

// requestHash tells two requests apart.
func (c *call) requestHash(body []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(c.r.Method), []byte(c.r.URL.RequestURI()), body} {
		h.Write(part)
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// bindKey ties the key of a request to the id of its first command, just before that
// is sent: a request that is refused here leaves its key free. One that was sent
// before gets the id it had then, so that its commands are the same and are not
// done twice.
func (c *call) bindKey() error {
	if c.key == "" || c.keyBound {
		return nil
	}
	c.ensureCommandID()
	remembered, err := c.remember(rota.Batch{}, c.commandID)
	if rota.CodeOf(err) == rota.Conflict {
		return &rota.Error{
			Code: rota.Conflict, Field: idempotencyHeader, Reason: "was used for another request in the last 24 hours",
			Hint: "send each request under a key of its own, and the same request under the same",
		}
	}
	if err != nil {
		return err
	}
	c.commandID, c.replay, c.keyBound = remembered.Command, remembered.Known, true
	return nil
}

// isReplay says whether a request that is refused here was found right when it
// was sent first. Then what it made is looked for, whatever became since of what
// it names: the handler is to be called again, and checks no more.
//
// It asks as of a time so long ago that a key which is free is free again now, and
// in the name of no command, so that who asked before is not taken for one.
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

// noCommand is an id that nobody mints.
var noCommand = rota.ID{6: 0x70, 8: 0x80}

// remember ties the key to a command, or says what it is tied to.
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

// scheduleChanged says whether a command that is sent again changed a schedule,
// by sending one of its id that could not: what it asked for need not fit what
// was changed since.
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
