package worker

import (
	"context"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

// finalClaimTimeout is how long a stopping worker waits for the answer to its last claim.
const finalClaimTimeout = 2 * time.Second

// claim is a long poll for jobs. The idempotency key makes the server answer with the same
// jobs if the answer was lost.
//
// A claim in flight when the worker stops may have taken jobs, which would wait until
// their leases expire. So it is sent once more, to be answered at once.
func (s *store) claim(ctx context.Context, c *rota.Claim) (rota.Reply, error) {
	reply, err := s.sendClaim(ctx, c, c.Limit, s.config.Wait)
	if ctx.Err() == nil || err == nil {
		return reply, err
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), finalClaimTimeout)
	defer done()
	if reply, last := s.sendClaim(ctx, c, 1, 0); last == nil {
		return reply, nil
	}
	return nil, err
}

func (s *store) sendClaim(ctx context.Context, c *rota.Claim, limit int, wait time.Duration) (rota.Reply, error) {
	var answer struct {
		Items []claimedItem `json:"items"`
	}
	err := s.server.longPoll(ctx, wait, apiclient.Request{
		Method: http.MethodPost, Path: "/claim", Key: c.ID.String(),
		Body: api.ClaimRequest{
			Worker: c.Worker, Types: c.Types, Limit: &limit, Lease: (*api.Duration)(&c.Lease), Wait: (*api.Duration)(&wait),
		},
	}, &answer)
	if err != nil {
		return nil, err
	}
	claimed := &rota.Claimed{Jobs: make([]*rota.Job, len(answer.Items))}
	values := make([]map[string]string, len(answer.Items))
	for i := range answer.Items {
		if values[i], err = answer.Items[i].Values(); err != nil {
			return nil, apiclient.Unreadable("claim", err)
		}
		if claimed.Jobs[i], err = claimedJob(&answer.Items[i], c.Worker); err != nil {
			return nil, err
		}
	}
	for i, job := range claimed.Jobs { // all of them start, so all of them are forgotten
		s.secrets.put(job.Run.ID, values[i])
	}
	return claimed, nil
}

// claimedItem is api.ClaimedJob without the decoded run of its job: the run repeats the params, and the worker needs only
// the lease.
type claimedItem struct {
	api.ClaimedJob
	Job struct {
		api.Job
		Run struct{} `json:"run"`
	} `json:"job"`
}

// claimedJob returns the job with its run, as a store returns it to the claimer.
func claimedJob(it *claimedItem, worker string) (*rota.Job, error) {
	if it.Job.ID.IsZero() || it.Job.Type == "" {
		return nil, apiclient.Unreadable("claim", rota.Invalidf("items.job", "has no id or no type"))
	}
	token, err := rota.ParseToken(it.LeaseToken)
	if err != nil {
		return nil, apiclient.Unreadable("claim", err)
	}
	job := it.Job.Entity()
	job.Run = &rota.Run{
		ID: it.RunID.ID, Runner: worker, Token: token, StartedAt: job.StartedAt, StaleAfter: it.StaleAfter.Time,
	}
	return job, nil
}

func (s *store) extend(ctx context.Context, c *rota.Extend) (rota.Reply, error) {
	extended, err := s.ExtendAndWait(ctx, c, 0)
	if err != nil {
		return nil, err
	}
	return extended, nil
}

// ExtendAndWait extends leases, and lets the server wait until one of the runs is to stop.
// An older server ignores the wait.
func (s *store) ExtendAndWait(ctx context.Context, c *rota.Extend, wait time.Duration) (*rota.Extended, error) {
	items := make([]api.ExtendRunning, len(c.Items))
	for i := range c.Items {
		items[i] = api.ExtendRunning{LeaseRequest: api.NewLeaseRequest(c.Items[i].LeaseRef), Progress: c.Items[i].Progress}
	}
	answers, err := s.beat(ctx, "extend", c.Lease, wait, items)
	if err != nil {
		return nil, err
	}
	return &rota.Extended{Items: answers}, nil
}

// note reports the progress of runs with a heartbeat: the protocol has no other request.
func (s *store) note(ctx context.Context, c *rota.Note) (rota.Reply, error) {
	items := make([]api.ExtendRunning, len(c.Items))
	for i := range c.Items {
		if it := &c.Items[i]; len(it.Artifacts) > 0 || it.LogPath != "" {
			return nil, errUnsupported("note with artifacts or a log")
		}
		items[i] = api.ExtendRunning{LeaseRequest: api.NewLeaseRequest(c.Items[i].LeaseRef), Progress: c.Items[i].Progress}
	}
	answers, err := s.beat(ctx, "note", s.config.Lease, 0, items)
	return &rota.Noted{Items: answers}, err
}

func (s *store) beat(ctx context.Context, act string, lease, wait time.Duration, items []api.ExtendRunning) ([]rota.LeaseAnswer, error) {
	var read api.Extended
	body := api.ExtendRequest{Lease: (*api.Duration)(&lease), Items: items}
	if wait > 0 && s.server.waits() {
		body.Wait = (*api.Duration)(&wait)
	}
	err := s.server.callWaiting(ctx, wait, act, apiclient.Request{Method: http.MethodPost, Path: "/extend", Body: body}, &read)
	if body.Wait != nil && rota.CodeOf(err) == rota.Invalid { // an older server knows no wait
		answers, err := s.beat(ctx, act, lease, 0, items)
		s.server.waitRefused.Store(err == nil)
		return answers, err
	}
	if err != nil {
		return nil, err
	}
	if err := checkLeases(act, read.Items, len(items), func(i int) api.ID { return items[i].RunID }); err != nil {
		return nil, err
	}
	answers := make([]rota.LeaseAnswer, len(items))
	for i := range read.Items {
		one := &read.Items[i]
		answers[i] = rota.LeaseAnswer{
			RunID: one.RunID.ID, Code: codeOfLease(one), StaleAfter: one.StaleAfter.Time, Cancel: one.Cancel, Reason: string(one.Reason),
		}
		if one.Cancel && one.Reason == rota.CodeTimeout { // the server's reason for a timeout; no user has cancelled
			answers[i].Cancel, answers[i].Overdue = false, true
		}
	}
	return answers, nil
}

// checkLeases compares the answers to a request with the runs that it named.
func checkLeases(act string, answers []api.ExtendedLease, asked int, run func(i int) api.ID) error {
	if len(answers) != asked {
		return rota.Errorf(rota.Internal, act, "the request names %d runs, but the answer names %d", asked, len(answers))
	}
	for i := range answers {
		switch one := &answers[i]; {
		case one.RunID != run(i):
			return rota.Errorf(rota.Internal, act, "the request names run %s, but the answer names %s", run(i), one.RunID)
		case one.Code != api.LeaseOK && one.Code != api.LeaseLost:
			return rota.Errorf(rota.Internal, act, "the server answers with the unknown code %q; a later release may know it", one.Code)
		}
	}
	return nil
}

// codeOfLease is empty for a valid lease.
func codeOfLease(one *api.ExtendedLease) rota.Code {
	if one.Code == api.LeaseOK {
		return ""
	}
	return rota.LeaseLost
}

// finishBytes bounds one request, unless a single end is larger.
const finishBytes = 1 << 20

// finish records how runs ended, with their logs, in several requests if necessary. A
// request that is sent again gets the same answer.
func (s *store) finish(ctx context.Context, c *rota.Finish) (rota.Reply, error) {
	finished := &rota.Finished{Items: make([]rota.FinishAnswer, 0, len(c.Items))}
	for rest := c.Items; len(rest) > 0; {
		chunk := s.nextChunk(rest)
		rest = rest[len(chunk):]
		answers, err := s.finishChunk(ctx, c, chunk)
		if err != nil {
			return nil, err
		}
		for i := range answers {
			finished.Items = append(finished.Items, rota.FinishAnswer{RunID: answers[i].RunID.ID, Code: codeOfLease(&answers[i])})
		}
	}
	return finished, nil
}

// nextChunk returns the first ends that fit into one request.
func (s *store) nextChunk(items []rota.FinishItem) []rota.FinishItem {
	bytes := 0
	for i := range items {
		bytes += 256 + len(items[i].Result) + len(items[i].Error) + s.logs.size(items[i].RunID)
		for _, path := range items[i].Artifacts {
			bytes += len(path)
		}
		if bytes > finishBytes && i > 0 {
			return items[:i]
		}
	}
	return items
}

// finishChunk sends one request. Its answer has the first fields of an answer to a heartbeat.
func (s *store) finishChunk(ctx context.Context, c *rota.Finish, items []rota.FinishItem) ([]api.ExtendedLease, error) {
	body := api.FinishRequest{Items: make([]api.FinishRun, len(items))}
	for i := range items {
		text, offset := s.logs.rest(items[i].RunID)
		body.Items[i] = api.NewFinishRun(&items[i], c.Waited(time.Now()), text)
		body.Items[i].LogOffset = offset
	}
	var answers api.Extended
	err := s.server.call(ctx, "finish", apiclient.Request{Method: http.MethodPost, Path: "/finish", Body: body}, &answers)
	if err == nil {
		err = checkLeases("finish", answers.Items, len(items), func(i int) api.ID { return body.Items[i].RunID })
	}
	if err != nil && !apiclient.Undecided(err) && s.dropLogs(&body) {
		return s.finishChunk(ctx, c, items)
	}
	return answers.Items, err
}

// dropLogs removes the logs that may be why a request was refused, and reports whether there were any: the only log, and logs
// with a position, which an older server does not know. The ends are sent again without them.
func (s *store) dropLogs(body *api.FinishRequest) (dropped bool) {
	for i := range body.Items {
		if one := &body.Items[i]; one.LogOffset > 0 || one.Log != "" && len(body.Items) == 1 {
			s.logs.drop(one.RunID.ID)
			dropped = true
		}
	}
	return dropped
}
