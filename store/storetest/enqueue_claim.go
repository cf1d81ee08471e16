package storetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// testEnqueueClaim enqueues and claims in one batch. The claim must take new jobs as if they
// had been enqueued in a batch before.
func testEnqueueClaim(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a claim takes jobs of its batch in dispatch order", enqueueClaimOrder},
		{"a claim takes no more jobs of its batch than its limit", enqueueClaimLimit},
		{"a job claimed in its batch is enqueued before it starts", enqueueClaimEvents},
		{"a batch of enqueue and claim sent again is answered with the same jobs", enqueueClaimResent},
		{"a claim takes no job of a paused type from its batch", enqueueClaimPaused},
		{"a claim takes no delayed job from its batch", enqueueClaimDelayed},
		{"limits hold for jobs of the batch", enqueueClaimLimits},
		{"a rate holds for jobs of the batch", enqueueClaimRate},
		{"a key limit holds for jobs of the batch", enqueueClaimKey},
		{"a job of the batch that takes the last slot of a key blocks an older job of the key", enqueueClaimKeyOfOthers},
		{"a claim after a refused enqueue takes the jobs of the other enqueues", enqueueClaimRefused},
		{"a claim takes deliveries about jobs of its batch", enqueueClaimDelivery},
		{"a claim takes many jobs of its batch", enqueueClaimMany},
		{"later changes of the caller's params do not change a claimed job of the batch", enqueueClaimParams},
		{"jobs of the batch that the claim leaves cause a wake-up", enqueueClaimWake},
		{"a claim of a reserved node takes no job of its batch", enqueueClaimReserved},
		{"a duplicate in the batch is claimed as the existing job", enqueueClaimDuplicate},
		{"older jobs with large params are claimed before jobs of the batch", enqueueClaimLargeParams},
		{"several claims of one batch take each job once", enqueueClaimTwice},
	})
}

// enqueueAndClaim enqueues and claims in one batch. It returns the jobs that the enqueue
// created and the ids that the claim took.
func (y *story) enqueueAndClaim(claim *rota.Claim, jobs ...rota.NewJob) (created []*rota.Job, claimed []rota.ID) {
	y.Helper()
	results := y.send(y.enqueueCommand(jobs...), claim)
	for i, r := range results {
		if r.Err != nil {
			y.Fatalf("command %d was refused: %v", i, r.Err)
		}
	}
	for _, one := range results[0].Reply.(*rota.Enqueued).Jobs {
		created = append(created, one.Job)
	}
	return created, idsOf(results[1].Reply.(*rota.Claimed).Jobs)
}

func enqueueClaimOrder(y *story) {
	old := y.enqueueMany(2)
	created, claimed := y.enqueueAndClaim(y.claimCommand(4), rota.NewJob{Priority: new(1)}, rota.NewJob{}, rota.NewJob{Priority: new(-1)})
	wantIDs(y, "claimed", claimed, created[0], old[0], old[1], created[1])
	wantIDs(y, "left", y.queue(), created[2])
}

func enqueueClaimLimit(y *story) {
	created, claimed := y.enqueueAndClaim(y.claimCommand(2), rota.NewJob{}, rota.NewJob{}, rota.NewJob{}, rota.NewJob{Type: "other", Priority: new(5)})
	wantIDs(y, "claimed", claimed, created[0], created[1])
	wantIDs(y, "left", y.queue(), created[3], created[2])
	wantIDs(y, "claimed by the next", idsOf(y.claim(5)), created[2])
}

func enqueueClaimEvents(y *story) {
	var created []*rota.Job
	events := y.eventsDuring(func() { created, _ = y.enqueueAndClaim(y.claimCommand(1), rota.NewJob{}) })
	want(y, "state in the answer to the enqueue", created[0].State(), rota.StateQueued)
	var kinds []rota.EventKind
	for _, e := range events {
		if e.JobID == created[0].ID {
			kinds = append(kinds, e.Kind)
		}
	}
	if !slices.Equal(kinds, []rota.EventKind{rota.EventJobEnqueued, rota.EventJobStarted}) {
		y.Errorf("the events of the job are %v", kinds)
	}
	j := y.job(created[0].ID)
	want(y, "state after the batch", j.State(), rota.StateRunning)
	wantTime(y, "queued", j.QueuedAt, y.now)
	wantTime(y, "started", j.StartedAt, y.now)
}

func enqueueClaimResent(y *story) {
	enqueue, claim := y.enqueueCommand(rota.NewJob{}, rota.NewJob{}), y.claimCommand(1)
	first := y.send(enqueue, claim)[1].Reply.(*rota.Claimed)
	before := y.dump()
	second := y.send(enqueue, claim)[1].Reply.(*rota.Claimed)
	want(y, "sent again", second.Again, true)
	wantIDs(y, "claimed again", idsOf(second.Jobs), first.Jobs...)
	y.wantUnchanged(before)
}

func enqueueClaimPaused(y *story) {
	y.declareType("mail", rota.TypeSpec{})
	y.pause("mail", true)
	created, claimed := y.enqueueAndClaim(y.claimCommand(5, "mail", "other"), rota.NewJob{}, rota.NewJob{Type: "other"})
	wantIDs(y, "claimed", claimed, created[1])
}

func enqueueClaimDelayed(y *story) {
	created, claimed := y.enqueueAndClaim(y.claimCommand(5), rota.NewJob{Delay: time.Hour}, rota.NewJob{})
	wantIDs(y, "claimed", claimed, created[1])
}

func enqueueClaimLimits(y *story) {
	y.throttle(rota.ThrottleSpec{Global: 3, Types: []rota.TypeLimit{{Type: "mail", Concurrency: 1}}})
	created, claimed := y.enqueueAndClaim(y.claimCommand(9, "mail", "other"), rota.NewJob{}, rota.NewJob{},
		rota.NewJob{Type: "other"}, rota.NewJob{Type: "other"}, rota.NewJob{Type: "other"})
	wantIDs(y, "claimed", claimed, created[0], created[2], created[3])
}

func enqueueClaimRate(y *story) {
	y.throttle(rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "mail", Rate: rota.Rate{Count: 2, Per: time.Minute}}}})
	created, claimed := y.enqueueAndClaim(y.claimCommand(9), rota.NewJob{}, rota.NewJob{}, rota.NewJob{})
	wantIDs(y, "claimed", claimed, created[0], created[1])
	want(y, "claimed right after it", len(y.claim(9)), 0)
}

func enqueueClaimKey(y *story) {
	y.throttle(keyLimit("k", 1))
	key := new("k")
	created, claimed := y.enqueueAndClaim(y.claimCommand(9), rota.NewJob{ConcurrencyKey: key}, rota.NewJob{ConcurrencyKey: key}, rota.NewJob{})
	wantIDs(y, "claimed", claimed, created[0], created[2])
}

func enqueueClaimKeyOfOthers(y *story) {
	y.throttle(keyLimit("k", 1))
	key := new("k")
	first := y.enqueue(rota.NewJob{ConcurrencyKey: key})
	created, claimed := y.enqueueAndClaim(y.claimCommand(9), rota.NewJob{ConcurrencyKey: key, Priority: new(3)})
	wantIDs(y, "claimed", claimed, created[0])
	want(y, "state of the older job", y.job(first.ID).State(), rota.StateBlocked)
}

func enqueueClaimRefused(y *story) {
	good := y.enqueueCommand(rota.NewJob{})
	results := y.send(y.enqueueCommand(rota.NewJob{}, rota.NewJob{Template: "none"}), good, y.claimCommand(5))
	want(y, "refused", rota.CodeOf(results[0].Err), rota.NotFound)
	wantIDs(y, "claimed", idsOf(results[2].Reply.(*rota.Claimed).Jobs), y.job(good.JobID(0)))
}

func enqueueClaimDelivery(y *story) {
	y.send(y.webhooksCommand(hook("a")))
	_, claimed := y.enqueueAndClaim(y.claimCommand(9, "mail", rota.TypeWebhook), rota.NewJob{})
	want(y, "the job and its delivery", len(claimed), 2)
}

func enqueueClaimMany(y *story) {
	jobs := make([]rota.NewJob, 200)
	created, claimed := y.enqueueAndClaim(y.claimCommand(150), jobs...)
	wantIDs(y, "claimed", claimed, created[:150]...)
	want(y, "left", len(y.queue()), 50)
}

func enqueueClaimParams(y *story) {
	params := []byte(`{"to":"ada"}`)
	enqueue := y.enqueueCommand(rota.NewJob{Params: params})
	results := y.send(enqueue, y.claimCommand(1))
	copy(params, `{"to":"bob"}`)
	want(y, "the params", string(results[1].Reply.(*rota.Claimed).Jobs[0].Params), `{"to":"ada"}`)
}

func enqueueClaimWake(y *story) {
	wake, off := y.s.Wake()
	defer off()
	y.enqueueAndClaim(y.claimCommand(1), rota.NewJob{}, rota.NewJob{})
	select {
	case <-wake:
	case <-time.After(maxWait):
		y.Error("a job is left and there was no wake-up")
	}
}

func enqueueClaimReserved(y *story) {
	do[*rota.Reserved](y, y.reserveCommand())
	created, claimed := y.enqueueAndClaim(y.claimCommand(1), rota.NewJob{})
	want(y, "claimed by the reserved node", len(claimed), 0)
	wantIDs(y, "left", y.queue(), created[0])
}

func enqueueClaimDuplicate(y *story) {
	first := y.enqueue(rota.NewJob{UniqueKey: "k"})
	created, claimed := y.enqueueAndClaim(y.claimCommand(5), rota.NewJob{UniqueKey: "k"}, rota.NewJob{})
	wantIDs(y, "claimed", claimed, first, created[1])
}

func enqueueClaimLargeParams(y *story) {
	large := json.RawMessage(`{"x":"` + strings.Repeat("x", rota.ParamsMax-8) + `"}`)
	count := rota.ClaimBytesMax/rota.ParamsMax + 2
	for range count {
		y.enqueue(rota.NewJob{Params: large})
	}
	_, claimed := y.enqueueAndClaim(y.claimCommand(count+2), rota.NewJob{}, rota.NewJob{})
	want(y, "claimed", len(claimed), rota.ClaimBytesMax/rota.ParamsMax)
}

func enqueueClaimTwice(y *story) {
	first, second := y.enqueueCommand(rota.NewJob{}, rota.NewJob{}), y.enqueueCommand(rota.NewJob{})
	results := y.send(first, y.claimCommand(1), second, y.claimCommand(5))
	wantIDs(y, "the first claim", idsOf(results[1].Reply.(*rota.Claimed).Jobs), y.job(first.JobID(0)))
	wantIDs(y, "the second", idsOf(results[3].Reply.(*rota.Claimed).Jobs), y.job(first.JobID(1)), y.job(second.JobID(0)))
}
