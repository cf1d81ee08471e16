//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/rotajobs/rota"
)

// point is where a server kills itself, and what callers do more often so that
// it gets there.
type point struct {
	verb, when string
	often      int // it is passed often: die at one of the first so many times
	focus      string
}

func (p point) String() string { return p.verb + ":" + p.when }

// setting is the environment variable of the point.
func (p point) setting() string {
	return fmt.Sprintf("%s=%s:%s:%d", envKill, p.verb, p.when, 1+rand.IntN(max(1, p.often)))
}

// points are all of them: every verb that a server sends, before and after the
// store has applied it, and some moments between the verbs. Normalise is not
// among them: it is sent only when nothing runs.
func points() (all []point) {
	for _, v := range []struct {
		verb  rota.Verb
		often int
		focus string
	}{
		{rota.VerbEnqueue, 20, "single"},
		{rota.VerbRemember, 20, "single"},
		{rota.VerbReady, 4, "delayed"},
		{rota.VerbClaim, 20, "single"},
		{rota.VerbFinish, 20, "single"},
		{rota.VerbExtend, 2, "sleeper"},
		{rota.VerbNote, 1, "sleeper"},
		{rota.VerbCancel, 3, "cancel"},
		{rota.VerbEdit, 3, "edit"},
		{rota.VerbMove, 3, "move"},
		{rota.VerbReap, 2, ""},
		{rota.VerbRecover, 1, ""},
		{rota.VerbPutType, 2, "type"},
		{rota.VerbSwitchType, 2, "pause"},
		{rota.VerbPutTemplate, 2, "template"},
		{rota.VerbArchive, 2, "template"},
		{rota.VerbUnarchive, 2, "template"},
		{rota.VerbPutThrottle, 2, "limit"},
		{rota.VerbPutSchedule, 2, "once"},
		{rota.VerbSwitchSchedule, 3, "hold"},
		{rota.VerbDeleteSchedule, 2, "forget"},
		{rota.VerbAll, 3, "statement"},
		{rota.VerbDrop, 2, "statement"},
		{rota.VerbFire, 3, ""},
		{rota.VerbTrigger, 2, "trigger"},
		{rota.VerbBackfill, 2, "backfill"},
		{rota.VerbEnqueueGroup, 2, "group"},
		{rota.VerbCancelGroup, 1, "crowd"},
		{rota.VerbSweep, 2, "crowd"},
		{rota.VerbExpire, 2, "crowd"},
		{rota.VerbReserve, 2, "direct"},
		{rota.VerbDirect, 2, "direct"},
		{rota.VerbRelease, 1, "squeeze"},
		{rota.VerbPrune, 1, ""},
		{rota.VerbRedrive, 2, "redrive"},
	} {
		for _, when := range []string{"before", "after"} {
			all = append(all, point{string(v.verb), when, v.often, v.focus})
		}
	}
	return append(all,
		point{"start", "opened", 1, ""}, point{"start", "ready", 1, ""},
		point{string(rota.VerbClaim), "taken", 20, "single"}, point{"handler", "mid", 20, "single"}, point{"shutdown", "mid", 1, "sleeper"},
	)
}
