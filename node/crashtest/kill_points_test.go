//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/rotajobs/rota"
)

// killPoint is a point of kill.go at which a server kills itself.
type killPoint struct {
	verb, when string
	passes     int    // the server dies at a random one of the first so many passes
	focus      string // action that callers do more often, so that the server reaches the point
}

func (p killPoint) String() string { return p.verb + ":" + p.when }

// env returns the environment variable that sets the point.
func (p killPoint) env() string {
	return fmt.Sprintf("%s=%s:%s:%d", envKill, p.verb, p.when, 1+rand.IntN(max(1, p.passes)))
}

// killPoints returns all points: every verb that a server sends, before and after the
// store has applied it, and the points between verbs. Normalise is not among them,
// because it is sent only when nothing runs.
func killPoints() (all []killPoint) {
	for _, v := range []struct {
		verb   rota.Verb
		passes int
		focus  string
	}{
		{rota.VerbEnqueue, 20, "enqueue"},
		{rota.VerbRemember, 20, "enqueue"},
		{rota.VerbReady, 4, "enqueue delayed"},
		{rota.VerbClaim, 20, "enqueue"},
		{rota.VerbFinish, 20, "enqueue"},
		{rota.VerbExtend, 2, "run with heartbeats"},
		{rota.VerbNote, 1, "run with heartbeats"},
		{rota.VerbCancel, 3, "cancel job"},
		{rota.VerbEdit, 3, "edit job"},
		{rota.VerbMove, 3, "move job"},
		{rota.VerbReap, 2, ""},
		{rota.VerbRecover, 1, ""},
		{rota.VerbPutType, 2, "put type"},
		{rota.VerbSwitchType, 2, "pause type"},
		{rota.VerbPutTemplate, 2, "use template"},
		{rota.VerbArchive, 2, "use template"},
		{rota.VerbUnarchive, 2, "use template"},
		{rota.VerbPutThrottle, 2, "set limit"},
		{rota.VerbPutSchedule, 2, "one-time schedule"},
		{rota.VerbSwitchSchedule, 3, "pause schedule"},
		{rota.VerbDeleteSchedule, 2, "delete schedule"},
		{rota.VerbAll, 3, "SQL"},
		{rota.VerbDrop, 2, "SQL"},
		{rota.VerbFire, 3, ""},
		{rota.VerbTrigger, 2, "trigger"},
		{rota.VerbBackfill, 2, "backfill"},
		{rota.VerbEnqueueGroup, 2, "enqueue group"},
		{rota.VerbCancelGroup, 1, "cancel large group"},
		{rota.VerbSweep, 2, "cancel large group"},
		{rota.VerbExpire, 2, "cancel large group"},
		{rota.VerbReserve, 2, "direct"},
		{rota.VerbDirect, 2, "direct"},
		{rota.VerbRelease, 1, "direct on full slots"},
		{rota.VerbPrune, 1, ""},
		{rota.VerbRedrive, 2, "retry dead"},
	} {
		for _, when := range []string{"before", "after"} {
			all = append(all, killPoint{string(v.verb), when, v.passes, v.focus})
		}
	}
	return append(all,
		killPoint{"start", "opened", 1, ""}, killPoint{"start", "ready", 1, ""},
		killPoint{string(rota.VerbClaim), "returned", 20, "enqueue"}, killPoint{"handler", "mid", 20, "enqueue"}, killPoint{"shutdown", "mid", 1, "run with heartbeats"},
	)
}
