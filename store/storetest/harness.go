package storetest

import (
	"testing"

	"github.com/rotajobs/rota"
)

// Harness is how the suite gets at a store.
type Harness struct {
	// Open opens a fresh, empty store. The suite closes it.
	Open func(t testing.TB) rota.Store

	// Break damages a job behind the store's back, as a crash between two
	// writes of a lesser store would have left it. It goes around the
	// constraints that forbid such rows.
	Break func(t testing.TB, s rota.Store, job rota.ID, how Breakage)

	// Pause makes the store call at, from now on, in every Apply: after it has
	// decided what the commands do, and before it locks what they touch and
	// writes. The suite holds callers there to make races certain. A store that
	// has no such point leaves it nil, and is raced often instead.
	Pause func(t testing.TB, s rota.Store, at func(commands []rota.Command))

	slice bool // set by Slice
}

// Breakage is a row, or a missing one, that the contract itself cannot make.
type Breakage string

// The breakages. What is not named stays as it is.
const (
	// BreakRun removes the run of a RUNNING job.
	BreakRun Breakage = "its run is gone"
	// BreakClose empties finished_at and sequel of a job whose run has ended,
	// and removes its retry if there is one.
	BreakClose Breakage = "its run has ended but it was not closed"
	// BreakRetry empties the sequel of a job that failed, and removes its
	// retry if there is one.
	BreakRetry Breakage = "it failed but its retry was not made"
	// BreakSequel empties the sequel of a job that was retried.
	BreakSequel Breakage = "its retry was made but not written down"
	// BreakJob removes a job and its run, but leaves its unique key taken.
	BreakJob Breakage = "it is gone but its key is not"
)

// Run holds a store to the whole suite.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Open == nil || h.Break == nil {
		t.Fatal("the harness must have both Open and Break: without them promises would go untested")
	}
	t.Run("Stories", func(t *testing.T) { Stories(t, h) })
	t.Run("RandomAgainstModel", func(t *testing.T) { RandomAgainstModel(t, h) })
	t.Run("Replay", func(t *testing.T) { Replay(t, h) })
	t.Run("Races", func(t *testing.T) { Races(t, h) })
	t.Run("Concurrent", func(t *testing.T) { Concurrent(t, h) })
}

// Slice runs what a change most likely breaks, in about a fifth of the time of Run: of
// most parts the first story, which shows the plain case, every command once and sent
// again, all stories about views and about waking, every race in one of its orders, and
// the largest of the concurrent tests. Random sequences are left to RandomAgainstModel
// and Replay.
func Slice(t *testing.T, h Harness) {
	t.Helper()
	h.slice = true
	t.Run("Stories", func(t *testing.T) { Stories(t, h) })
	t.Run("Races", func(t *testing.T) { Races(t, h) })
	t.Run("Concurrent", func(t *testing.T) { Concurrent(t, h) })
}

// wholeInSlice are the parts that Slice runs completely: those that send every command,
// and those about what a store keeps in a session of its database.
var wholeInSlice = map[string]bool{"again": true, "view": true, "wake": true}

// Stories runs the part of the suite that shows one promise at a time.
func Stories(t *testing.T, h Harness) {
	t.Helper()
	for _, part := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"enqueue", testEnqueue},
		{"unique", testUnique},
		{"plan", testPlan},
		{"ready", testReady},
		{"claim", testClaim},
		{"extend", testExtend},
		{"note", testNote},
		{"finish", testFinish},
		{"retry", testRetry},
		{"cancel", testCancel},
		{"edit", testEdit},
		{"move", testMove},
		{"normalise", testNormalise},
		{"reap", testReap},
		{"recover", testRecover},
		{"all", testAll},
		{"batch", testBatch},
		{"joint", testEnqueueClaim},
		{"again", testResend},
		{"late", testLateResend},
		{"invalid", testInvalid},
		{"refused", testRefused},
		{"reads", testReads},
		{"counts", testCounts},
		{"view", testView},
		{"wake", testWake},
		{"explain", testExplain},
		{"types", testTypes},
		{"templates", testTemplates},
		{"archive", testArchive},
		{"schedules", testSchedules},
		{"nexts", testNextFire},
		{"switches", testSwitches},
		{"anew", testRecreate},
		{"drop", testDrop},
		{"drop history", testDropHistory},
		{"dry", testDryRun},
		{"cycles", testCycles},
		{"fire", testFire},
		{"catch-up", testCatchUp},
		{"completion", testCompletion},
		{"trigger", testTrigger},
		{"overlap", testOverlap},
		{"depend", testDepend},
		{"depend on change", testDependChange},
		{"group", testGroup},
		{"group end", testGroupEnd},
		{"limits", testLimits},
		{"key limit", testKeyLimit},
		{"reservations", testReservations},
		{"prune", testPrune},
		{"redrive", testRedrive},
		{"remember", testRemember},
		{"states", testStates},
		{"stats", testStats},
		{"events", testEvents},
		{"webhooks", testWebhooks},
		{"deliveries", testDeliveries},
		{"hidden", testInternalTypes},
		{"trace", testTrace},
	} {
		t.Run(part.name, func(t *testing.T) {
			h := h
			h.slice = h.slice && !wholeInSlice[part.name]
			part.run(t, h)
		})
	}
}

// namedStory is one story and the behaviour it shows.
type namedStory struct {
	name string
	run  func(y *story)
}

// runStories runs stories, each on a store of its own.
func runStories(t *testing.T, h Harness, stories []namedStory) {
	t.Helper()
	if h.slice {
		stories = stories[:1]
	}
	for _, one := range stories {
		t.Run(one.name, func(t *testing.T) {
			y := newStory(t, h)
			one.run(y)
		})
	}
}
