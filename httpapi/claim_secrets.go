package httpapi

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/secret"
)

// codeSecrets is the error code of a job that was not given to a worker because of its secrets.
const codeSecrets = "secrets"

// secretJobsMax is how many jobs of one answer may have secrets of the largest size, so that these are as long together as the
// params may be.
const secretJobsMax = rota.ClaimBytesMax / rota.SecretBytesMax

// limitForSecrets lowers the limit of a claim if its jobs may have secrets. Jobs that were claimed and do not fit into the answer
// would have used an attempt.
func (c *call) limitForSecrets(claim *rota.Claim) error {
	if c.Vault == nil || claim.Limit <= secretJobsMax {
		return nil
	}
	has, err := c.Vault.Any(c.ctx)
	if has {
		claim.Limit = secretJobsMax
	}
	return err
}

// withSecrets opens the secrets of claimed jobs. A job whose secrets the worker may not receive is not given to it: its
// run fails with the reason, which the answer has too, and is retried as its policy says unless no worker may receive them.
func (c *call) withSecrets(jobs []*rota.Job) (given []*rota.Job, secrets map[rota.ID]api.ClaimedSecrets, withheld []api.WithheldJob, err error) {
	if c.Vault == nil {
		return jobs, nil, nil, nil
	}
	ctx, done := c.detached()
	defer done()
	var items []rota.FinishItem
	batch, sent := c.Vault.Batch(), map[string]api.ClaimedSecrets{} // by template
	for _, job := range jobs {
		values, refusal := c.secretsFor(ctx, job, batch)
		if refusal != nil {
			withheld = append(withheld, api.WithheldJob{JobID: api.ID{ID: job.ID}, Reason: refusal.Error()})
			items = append(items, rota.FinishItem{
				LeaseRef: job.Lease(), Outcome: rota.OutcomeFailed, ErrorCode: codeSecrets, Error: refusal.Error(), Permanent: rota.IsPermanent(refusal),
			})
			continue
		}
		given = append(given, job)
		if len(values) == 0 {
			continue
		}
		if secrets == nil {
			secrets = map[rota.ID]api.ClaimedSecrets{}
		}
		if _, known := sent[job.Template]; !known {
			sent[job.Template] = api.NewClaimedSecrets(values)
		}
		secrets[job.ID] = sent[job.Template]
		c.maskedRuns.add(job, values)
	}
	if len(items) > 0 {
		if err := c.finishUndelivered(items); err != nil {
			c.Logger.Error("could not fail claimed jobs whose secrets the worker may not receive; their leases will expire",
				slog.Int("jobs", len(items)), slog.Any("error", err))
		}
	}
	return given, secrets, withheld, nil
}

func (c *call) secretsFor(ctx context.Context, job *rota.Job, batch *secret.Batch) (map[string]string, error) {
	values, err := batch.Secrets(ctx, job)
	switch {
	case err != nil || len(values) == 0:
		return nil, err
	case !secure(c.r):
		return nil, &rota.Error{
			Code: rota.Denied, Reason: "the job has secrets, which are sent over TLS or a loopback connection only, and the worker uses neither",
			Hint: "connect the worker with https",
		}
	}
	may, err := c.Store.ReceivesSecrets(ctx)
	if err == nil && !may {
		err = &rota.Error{
			Code: rota.Denied, Reason: "the job has secrets, which are sent to workers with a token of scope worker only",
			Hint: "create one: rota token create --scope worker",
		}
	}
	if err != nil {
		return nil, err
	}
	return values, nil
}

// secure reports whether nobody on the network can read the answer to a request.
func secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	if err != nil || ip == nil || !ip.IsLoopback() {
		return false
	}
	local, is := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return !is || local.IP.IsLoopback()
}
