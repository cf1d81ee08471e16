package httpapi

import (
	"context"
	"log/slog"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// masksOfParts returns the masks of the items of an extend request, by index. It asks for those that have something to mask.
func (c *call) masksOfParts(items []api.ExtendRunning) (map[int]*maskedRun, error) {
	return c.masksOf(len(items), func(i int) *api.LeaseRequest {
		if one := &items[i]; one.Log != "" || len(one.Progress) > 0 {
			return &one.LeaseRequest
		}
		return nil
	})
}

// masksOfRuns is masksOfParts for a finish request.
func (c *call) masksOfRuns(items []api.FinishRun) (map[int]*maskedRun, error) {
	return c.masksOf(len(items), func(i int) *api.LeaseRequest {
		one := &items[i]
		if one.Error == "" && one.ErrorCode == "" && len(one.Result) == 0 && len(one.Artifacts) == 0 && one.Log == "" && one.LogOffset == 0 &&
			c.maskedRuns.of(one.RunID.ID).heldAt() == 0 {
			return nil
		}
		return &one.LeaseRequest
	})
}

// masksOf returns the masks of the runs whose jobs have secrets. A store without secrets is asked once.
func (c *call) masksOf(n int, lease func(i int) *api.LeaseRequest) (masks map[int]*maskedRun, err error) {
	if c.Vault == nil {
		return nil, nil
	}
	ctx, done := c.detached()
	defer done()
	has, asked := false, false
	byTemplate := map[string]*templateValues{}
	for i := range n {
		ref := lease(i)
		if ref == nil {
			continue
		}
		m := c.maskedRuns.of(ref.RunID.ID)
		if m == nil {
			if !asked {
				if has, err = c.Vault.Any(ctx); err != nil {
					return nil, err
				}
				asked = true
			}
			if has {
				if m, err = c.storedMasks(ctx, ref, byTemplate); err != nil {
					return nil, err
				}
			}
		}
		if m != nil {
			if masks == nil {
				masks = map[int]*maskedRun{}
			}
			masks[i] = m
		}
	}
	return masks, nil
}

// templateValues are the secrets of a template as the store has them now.
type templateValues struct {
	values map[string]string
	locked error
}

// storedMasks returns the masks of a run that this process has not given to a worker, nil if there are none. A run that is not that of its job
// has none: what is sent about it will be refused.
func (c *call) storedMasks(ctx context.Context, ref *api.LeaseRequest, byTemplate map[string]*templateValues) (*maskedRun, error) {
	job, err := c.server.Store.Job(ctx, ref.JobID.ID)
	switch {
	case rota.CodeOf(err) == rota.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case job.Run == nil || job.Run.ID != ref.RunID.ID || job.Template == "":
		return nil, nil
	}
	found := byTemplate[job.Template]
	if found == nil {
		found = &templateValues{}
		if found.values, found.locked, err = c.Vault.Values(ctx, job.Template); err != nil {
			return nil, err
		}
		byTemplate[job.Template] = found
	}
	switch {
	case found.locked != nil:
		c.Logger.Error("could not open the secrets of a template to mask them in what a worker has sent, so it is not stored",
			slog.String("template", job.Template), slog.Any("job", job.ID), slog.Any("error", found.locked))
		return &maskedRun{locked: found.locked}, nil
	case len(found.values) == 0:
		return nil, nil
	}
	return c.maskedRuns.add(job, found.values), nil
}
