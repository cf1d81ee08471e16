package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testRemember(t *testing.T, h Harness) {
	tellAll(t, h, []tale{
		{"a key is tied to the command that comes first", rememberFirst},
		{"another request under the same key is refused", rememberOther},
		{"two actors may use the same key", rememberActors},
		{"a key is free again when its time is over", rememberLapses},
		{"a tie that lasts is not moved by asking for it", rememberStays},
		{"sent again it is answered as before, however often others asked", rememberAgain},
		{"pruning leaves the ties that last", rememberPrune},
		{"of two that come at once one is told of the other", rememberTogether},
	})
}

func hashOf(request string) string {
	sum := sha256.Sum256([]byte(request))
	return hex.EncodeToString(sum[:])
}

// rememberCommand ties a key to a command that is still to be sent.
func (y *story) rememberCommand(key, request string) *rota.Remember {
	return &rota.Remember{Meta: y.mint.meta(), Key: key, Hash: hashOf(request), Command: y.mint.id()}
}

// ties wants a key to be free, and to be tied by the command.
func (y *story) ties(c *rota.Remember) {
	y.Helper()
	got := do[*rota.Remembered](y, c)
	want(y, "tied to", got.Command, c.Command)
	want(y, "known", got.Known, false)
}

// knows wants a key to be tied to the command of another.
func (y *story) knows(c, first *rota.Remember) {
	y.Helper()
	got := do[*rota.Remembered](y, c)
	want(y, "tied to", got.Command, first.Command)
	want(y, "known", got.Known, true)
}

func rememberFirst(y *story) {
	first := y.rememberCommand("k", "a")
	y.ties(first)
	y.knows(y.rememberCommand("k", "a"), first)
	y.ties(y.rememberCommand("l", "a"))
}

func rememberOther(y *story) {
	first := y.rememberCommand("k", "a")
	y.ties(first)
	err := y.refused(rota.Conflict, y.rememberCommand("k", "b"))
	want(y, "field", err.Field, "key")
	want(y, "says what to do", err.Hint != "" || err.Reason != "", true)
	y.knows(y.rememberCommand("k", "a"), first)
}

func rememberActors(y *story) {
	y.ties(y.rememberCommand("k", "a"))
	for _, actor := range []string{"eve", ""} {
		other := y.rememberCommand("k", "b")
		other.Actor = actor
		y.ties(other)
	}
}

func rememberLapses(y *story) {
	first := y.rememberCommand("k", "a")
	y.ties(first)
	y.pass(rota.RequestKeep - time.Microsecond)
	y.knows(y.rememberCommand("k", "a"), first)
	y.refused(rota.Conflict, y.rememberCommand("k", "b"))
	y.pass(time.Microsecond)
	second := y.rememberCommand("k", "b")
	y.ties(second)
	y.knows(y.rememberCommand("k", "b"), second)
	y.refused(rota.Conflict, first)
	y.sound()
}

func rememberStays(y *story) {
	first := y.rememberCommand("k", "a")
	y.ties(first)
	for range 3 {
		y.pass(rota.RequestKeep / 4)
		y.knows(y.rememberCommand("k", "a"), first)
	}
	y.pass(rota.RequestKeep / 4)
	y.ties(y.rememberCommand("k", "a"))
}

func rememberAgain(y *story) {
	first := y.rememberCommand("k", "a")
	y.ties(first)
	y.knows(y.rememberCommand("k", "a"), first)
	y.pass(time.Hour)
	y.ties(first)
	y.pass(rota.RequestKeep)
	y.ties(first)
}

// rememberPrune cannot read what is kept, but can see that what lasts is.
func rememberPrune(y *story) {
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		y.ties(y.rememberCommand(key, "a"))
	}
	y.pass(rota.RequestKeep / 2)
	young := y.rememberCommand("k", "a")
	y.ties(young)
	y.pass(rota.RequestKeep / 2)
	y.prune(y.mint.id())
	y.knows(y.rememberCommand("k", "a"), young)
	y.ties(y.rememberCommand("e", "b"))
	y.sound()
}

func rememberTogether(y *story) {
	commands := make([]*rota.Remember, 8)
	for i := range commands {
		commands[i] = y.rememberCommand("k", "a")
	}
	answers := make([]*rota.Remembered, len(commands))
	together(len(commands), func(i int) { answers[i] = y.race(commands[i]).Reply.(*rota.Remembered) })
	winners := 0
	for i, a := range answers {
		want(y, "tied to", a.Command, answers[0].Command)
		want(y, "known", a.Known, a.Command != commands[i].Command)
		winners += count(!a.Known)
	}
	want(y, "winners", winners, 1)
}
