package storetest

import (
	"slices"
	"testing"

	"github.com/rotajobs/rota"
)

// Harness gives the suite access to a store.
type Harness struct {
	// Open opens a new, empty store. The suite closes it.
	Open func(t testing.TB) rota.Store

	// Break damages a job without using the store, as a crash between two writes of a
	// non-transactional store would. It bypasses the constraints that forbid such rows.
	Break func(t testing.TB, s rota.Store, job rota.ID, how Breakage)

	// Pause makes the store call at in every later Apply: after it has decided what the
	// commands do, and before it locks and writes the rows. The suite blocks callers there, so
	// that races happen every time. A store without such a point leaves Pause nil; the suite
	// then runs each race several times.
	Pause func(t testing.TB, s rota.Store, at func(commands []rota.Command))

	// Tamper gives access to the rows of a store past its triggers. Nil leaves the stories about tampering
	// out; the stores with a database of their own have it.
	Tamper func(t testing.TB, s rota.Store) Tamper

	slice bool // set by Slice
}

// Breakage is a damage of rows that no command can cause.
type Breakage string

// The kinds of damage. All other rows stay as they are.
const (
	// BreakRun removes the run of a RUNNING job.
	BreakRun Breakage = "its run is gone"
	// BreakClose empties finished_at and sequel of a job whose run has ended,
	// and removes its retry if there is one.
	BreakClose Breakage = "its run has ended but it was not closed"
	// BreakRetry empties the sequel of a job that failed, and removes its
	// retry if there is one.
	BreakRetry Breakage = "it failed but its retry was not created"
	// BreakSequel empties the sequel of a job that was retried.
	BreakSequel Breakage = "its retry was created but not recorded"
	// BreakJob removes a job and its run, but leaves its unique key held.
	BreakJob Breakage = "it is gone but its key is held"
)

// Run runs the whole suite on a store.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Open == nil || h.Break == nil {
		t.Fatal("the harness needs both Open and Break: without them a part of the suite could not run")
	}
	t.Run("Stories", func(t *testing.T) { Stories(t, h) })
	t.Run("RandomAgainstModel", func(t *testing.T) { RandomAgainstModel(t, h) })
	t.Run("Replay", func(t *testing.T) { Replay(t, h) })
	t.Run("Races", func(t *testing.T) { Races(t, h) })
	t.Run("Concurrent", func(t *testing.T) { Concurrent(t, h) })
}

// Subset runs what a change most likely breaks, in about a fifth of the time of Run: of most
// parts the first story, which shows the simplest case; every command once and sent again; all
// stories about views and wake-ups; every race in one of its orders; and the largest of the
// concurrent tests. Random sequences are left to RandomAgainstModel and Replay.
func Subset(t *testing.T, h Harness) {
	t.Helper()
	h.slice = true
	t.Run("Stories", func(t *testing.T) { Stories(t, h) })
	t.Run("Races", func(t *testing.T) { Races(t, h) })
	t.Run("Concurrent", func(t *testing.T) { Concurrent(t, h) })
}

// wholeInSlice names the parts that Slice runs completely: those that send every command, and
// those about what a store keeps in a session of its database.
var wholeInSlice = map[string]bool{"resend": true, "view": true, "wake": true}

// Stories runs the stories, each of which shows one behaviour.
func Stories(t *testing.T, h Harness) {
	t.Helper()
	for _, part := range storyParts {
		t.Run(part.name, func(t *testing.T) {
			h := h
			h.slice = h.slice && !wholeInSlice[part.name]
			part.run(t, h)
		})
	}
}

// StoriesOf runs the stories of some parts.
func StoriesOf(t *testing.T, h Harness, names ...string) {
	t.Helper()
	for _, name := range names {
		i := slices.IndexFunc(storyParts, func(part storyPart) bool { return part.name == name })
		if i < 0 {
			t.Fatalf("there are no stories of %q", name)
		}
		t.Run(name, func(t *testing.T) { storyParts[i].run(t, h) })
	}
}

// storyPart is the stories about one subject.
type storyPart struct {
	name string
	run  func(*testing.T, Harness)
}

var storyParts = []storyPart{
	{"enqueue", testEnqueue},
	{"unique", testUnique},
	{"plan", testPlan},
	{"ready", testReady},
	{"claim", testClaim},
	{"extend", testExtend},
	{"note", testNote},
	{"finish", testFinish},
	{"retry", testRetry},
	{"timeout", testTimeout},
	{"cancel", testCancel},
	{"edit", testEdit},
	{"run at", testRunAt},
	{"run now", testRunNow},
	{"move", testMove},
	{"normalise", testNormalise},
	{"reap", testReap},
	{"recover", testRecover},
	{"all", testAll},
	{"batch", testBatch},
	{"enqueue and claim", testEnqueueClaim},
	{"resend", testResend},
	{"late resend", testLateResend},
	{"expect again", testExpectAgain},
	{"invalid", testInvalid},
	{"refused", testRefused},
	{"reads", testReads},
	{"counts", testCounts},
	{"find", testFind},
	{"view", testView},
	{"wake", testWake},
	{"explain", testExplain},
	{"types", testTypes},
	{"templates", testTemplates},
	{"archive", testArchive},
	{"schedules", testSchedules},
	{"next fire", testNextFire},
	{"switches", testSwitches},
	{"recreate", testRecreate},
	{"owners", testOwners},
	{"execute", testOwnersExecute},
	{"expect", testExpect},
	{"drop", testDrop},
	{"drop history", testDropHistory},
	{"dry run", testDryRun},
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
	{"each key", testEachKey},
	{"reservations", testReservations},
	{"prune", testPrune},
	{"audit", testAudit},
	{"audit chain", testAuditChain},
	{"audit tampering", testAuditTampering},
	{"audit export", testAuditExport},
	{"redrive", testRedrive},
	{"run again", testRunAgain},
	{"remember", testRemember},
	{"states", testStates},
	{"stats", testStats},
	{"events", testEvents},
	{"webhooks", testWebhooks},
	{"deliveries", testDeliveries},
	{"internal types", testInternalTypes},
	{"trace", testTrace},
	{"principals", testPrincipals},
	{"grants", testGrants},
	{"tokens", testTokens},
	{"secrets", testSecrets},
	{"access records", testAccessRecords},
}

// namedStory is a story and the behaviour that it shows.
type namedStory struct {
	name string
	run  func(y *story)
}

// runStories runs stories, each with its own store.
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
