package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testRemember(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a key is tied to the first command", rememberFirst},
		{"another request under the same key is refused", rememberOther},
		{"two actors may use the same key", rememberActors},
		{"a key is free again after its time", rememberExpires},
		{"a later request does not extend the time of a key", rememberStays},
		{"a remember sent again is answered as before", rememberAgain},
		{"pruning keeps keys that have not expired", rememberPrune},
		{"of concurrent remembers of one key one wins and the others get its command", rememberConcurrent},
	})
}

func hashOf(request string) string {
	sum := sha256.Sum256([]byte(request))
	return hex.EncodeToString(sum[:])
}

// rememberCommand ties a key to a command that is sent later.
func (y *story) rememberCommand(key, request string) *rota.Remember {
	return &rota.Remember{Meta: y.ids.meta(), Key: key, Hash: hashOf(request), Command: y.ids.next()}
}

// wantTied wants a key to be free, and then tied to the command.
func (y *story) wantTied(c *rota.Remember) {
	y.Helper()
	got := do[*rota.Remembered](y, c)
	want(y, "tied to", got.Command, c.Command)
	want(y, "known", got.Known, false)
}

// wantTiedTo wants a key to be tied to the command of an earlier request.
func (y *story) wantTiedTo(c, first *rota.Remember) {
	y.Helper()
	got := do[*rota.Remembered](y, c)
	want(y, "tied to", got.Command, first.Command)
	want(y, "known", got.Known, true)
}

func rememberFirst(y *story) {
	first := y.rememberCommand("k", "a")
	y.wantTied(first)
	y.wantTiedTo(y.rememberCommand("k", "a"), first)
	y.wantTied(y.rememberCommand("l", "a"))
}

func rememberOther(y *story) {
	first := y.rememberCommand("k", "a")
	y.wantTied(first)
	err := y.refused(rota.Conflict, y.rememberCommand("k", "b"))
	want(y, "field", err.Field, "key")
	want(y, "has a hint or a reason", err.Hint != "" || err.Reason != "", true)
	y.wantTiedTo(y.rememberCommand("k", "a"), first)
}

func rememberActors(y *story) {
	y.wantTied(y.rememberCommand("k", "a"))
	for _, actor := range []string{"eve", ""} {
		other := y.rememberCommand("k", "b")
		other.Actor = actor
		y.wantTied(other)
	}
}

func rememberExpires(y *story) {
	first := y.rememberCommand("k", "a")
	y.wantTied(first)
	y.advance(rota.RequestKeep - time.Microsecond)
	y.wantTiedTo(y.rememberCommand("k", "a"), first)
	y.refused(rota.Conflict, y.rememberCommand("k", "b"))
	y.advance(time.Microsecond)
	second := y.rememberCommand("k", "b")
	y.wantTied(second)
	y.wantTiedTo(y.rememberCommand("k", "b"), second)
	y.refused(rota.Conflict, first)
	y.wantNoViolations()
}

func rememberStays(y *story) {
	first := y.rememberCommand("k", "a")
	y.wantTied(first)
	for range 3 {
		y.advance(rota.RequestKeep / 4)
		y.wantTiedTo(y.rememberCommand("k", "a"), first)
	}
	y.advance(rota.RequestKeep / 4)
	y.wantTied(y.rememberCommand("k", "a"))
}

func rememberAgain(y *story) {
	first := y.rememberCommand("k", "a")
	y.wantTied(first)
	y.wantTiedTo(y.rememberCommand("k", "a"), first)
	y.advance(time.Hour)
	y.wantTied(first)
	y.advance(rota.RequestKeep)
	y.wantTied(first)
}

// rememberPrune cannot read the keys. It shows that keys that have not expired are still tied.
func rememberPrune(y *story) {
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		y.wantTied(y.rememberCommand(key, "a"))
	}
	y.advance(rota.RequestKeep / 2)
	young := y.rememberCommand("k", "a")
	y.wantTied(young)
	y.advance(rota.RequestKeep / 2)
	y.prune(y.ids.next())
	y.wantTiedTo(y.rememberCommand("k", "a"), young)
	y.wantTied(y.rememberCommand("e", "b"))
	y.wantNoViolations()
}

func rememberConcurrent(y *story) {
	commands := make([]*rota.Remember, 8)
	for i := range commands {
		commands[i] = y.rememberCommand("k", "a")
	}
	answers := make([]*rota.Remembered, len(commands))
	concurrently(len(commands), func(i int) { answers[i] = y.applyOne(commands[i]).Reply.(*rota.Remembered) })
	winners := 0
	for i, a := range answers {
		want(y, "tied to", a.Command, answers[0].Command)
		want(y, "known", a.Known, a.Command != commands[i].Command)
		winners += count(!a.Known)
	}
	want(y, "winners", winners, 1)
}
