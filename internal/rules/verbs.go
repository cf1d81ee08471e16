package rules

import (
	"fmt"

	"github.com/rotajobs/rota"
)

func decideOtherVerb(u *UnitOfWork, c rota.Command) (rota.Reply, *rota.Error) {
	switch c := c.(type) {
	case *rota.PutType:
		return decidePutType(u, c)
	case *rota.SwitchType:
		return decideSwitchType(u, c)
	case *rota.PutTemplate:
		return decidePutTemplate(u, c)
	case *rota.Archive:
		return decideArchive(u, c)
	case *rota.Unarchive:
		return decideUnarchive(u, c)
	case *rota.PutThrottle:
		return decidePutThrottle(u, c)
	case *rota.PutWebhooks:
		return decidePutWebhooks(u, c)
	case *rota.PutSchedule:
		return decidePutSchedule(u, c)
	case *rota.SwitchSchedule:
		return decideSwitchSchedule(u, c)
	case *rota.DeleteSchedule:
		return decideDeleteSchedule(u, c)
	case *rota.Drop:
		return decideDrop(u, c)
	case *rota.Fire:
		return decideFire(u, c)
	case *rota.Trigger:
		return decideTrigger(u, c)
	case *rota.Backfill:
		return decideBackfill(u, c)
	case *rota.EnqueueGroup:
		return decideEnqueueGroup(u, c)
	case *rota.CancelGroup:
		return decideCancelGroup(u, c)
	case *rota.Reserve:
		return decideReserve(u, c)
	case *rota.Direct:
		return decideDirect(u, c)
	case *rota.Release:
		return decideRelease(u, c)
	case *rota.Expire:
		return decideExpire(u, c)
	case *rota.Sweep:
		return decideSweep(u, c)
	case *rota.Prune:
		return decidePrune(u, c)
	case *rota.Redrive:
		return decideRedrive(u, c)
	case *rota.Remember:
		return decideRemember(u, c)
	case *rota.SetOwner:
		return decideSetOwner(u, c)
	}
	return decideAccess(u, c)
}

func decideAccess(u *UnitOfWork, c rota.Command) (rota.Reply, *rota.Error) {
	switch c := c.(type) {
	case *rota.PutPrincipal:
		return decidePutPrincipal(u, c)
	case *rota.DropPrincipal:
		return decideDropPrincipal(u, c)
	case *rota.GrantPrivileges:
		return decideGrantPrivileges(u, c)
	case *rota.PutToken:
		return decidePutToken(u, c)
	case *rota.RevokeToken:
		return decideRevokeToken(u, c)
	case *rota.TouchTokens:
		return decideTouchTokens(u, c)
	case *rota.RecordAccess:
		return decideRecordAccess(u, c)
	case *rota.PutSecret:
		return decidePutSecret(u, c)
	case *rota.DeleteSecret:
		return decideDeleteSecret(u, c)
	case *rota.RewrapSecrets:
		return decideRewrapSecrets(u, c)
	case *rota.PromoteSecretKey:
		return decidePromoteSecretKey(u, c)
	}
	panic(fmt.Sprintf("rules: no rules for %T", c))
}

// refresh replaces the jobs of a reply by their state at the end of the
// command, after key queues were balanced.
func refresh(u *UnitOfWork, reply rota.Reply) {
	again := func(jobs []*rota.Job) {
		for i, j := range jobs {
			jobs[i] = withoutToken(u.job(j.ID))
		}
	}
	one := func(j **rota.Job) { *j = withoutToken(u.job((*j).ID)) }
	switch r := reply.(type) {
	case *rota.Enqueued:
		for i := range r.Jobs {
			if r.Jobs[i].Job != nil {
				one(&r.Jobs[i].Job)
			}
		}
	case *rota.CancelledJob:
		one(&r.Job)
	case *rota.Edited:
		one(&r.Job)
	case *rota.Moved:
		one(&r.Job)
	case *rota.Redriven:
		one(&r.Job)
	case *rota.Fired:
		again(r.Jobs)
	case *rota.Triggered:
		again(r.Jobs)
	case *rota.Backfilled:
		again(r.Jobs)
	case *rota.GroupEnqueued:
		again(r.Jobs)
	}
}
