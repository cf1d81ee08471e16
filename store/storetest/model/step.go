package model

import (
	"time"

	"github.com/rotajobs/rota"
)

// step is the execution of one command: the state that it changes and its time.
type step struct {
	*state
	now         time.Time
	readAt      time.Time         // when now was read; zero: the batch has its own time
	command     rota.Command      // the current command; in an All, the member
	changedKeys map[keyQueue]bool // to balance at the end
}

// apply executes a command, balances the keys that it changed, and only then copies the rows of
// its reply, so that the reply shows the jobs as the command leaves them.
func (s *step) apply(c rota.Command) (rota.Reply, *rota.Error) {
	if err := rota.CheckCommand(c); err != nil {
		return nil, err.(*rota.Error)
	}
	s.command, s.changedKeys = c, map[keyQueue]bool{}
	reply, err := s.expecting(c)
	if err != nil {
		return nil, err
	}
	s.balanceChangedKeys()
	return s.copyReply(reply), nil
}

func (s *step) decide(c rota.Command) (rota.Reply, *rota.Error) {
	switch c := c.(type) {
	case *rota.Enqueue:
		return s.enqueue(c)
	case *rota.Ready:
		return s.ready(c)
	case *rota.Claim:
		return s.claim(c)
	case *rota.Extend:
		return s.extend(c)
	case *rota.Note:
		return s.note(c)
	case *rota.Finish:
		return s.finish(c)
	case *rota.Cancel:
		return s.cancel(c)
	case *rota.Edit:
		return s.edit(c)
	case *rota.Move:
		return s.move(c)
	case *rota.Normalise:
		return s.normalise(c)
	case *rota.Reap:
		return s.reap(c)
	case *rota.Recover:
		return s.recover(c)
	case *rota.All:
		return s.all(c)
	}
	return s.decideOther(c)
}

// decideOther executes the verbs about definitions, groups, limits, reservations and
// maintenance.
func (s *step) decideOther(c rota.Command) (rota.Reply, *rota.Error) {
	switch c := c.(type) {
	case *rota.PutType:
		return s.putType(c)
	case *rota.SwitchType:
		return s.switchType(c)
	case *rota.PutTemplate:
		return s.putTemplate(c)
	case *rota.Archive:
		return s.archive(c)
	case *rota.Unarchive:
		return s.unarchive(c)
	case *rota.PutThrottle:
		return s.putThrottle(c)
	case *rota.PutWebhooks:
		return s.putWebhooks(c)
	case *rota.PutSchedule:
		return s.putSchedule(c)
	case *rota.SwitchSchedule:
		return s.switchSchedule(c)
	case *rota.DeleteSchedule:
		return s.deleteSchedule(c)
	case *rota.Drop:
		return s.drop(c)
	case *rota.Fire:
		return s.fire(c)
	case *rota.Trigger:
		return s.trigger(c)
	case *rota.Backfill:
		return s.backfill(c)
	case *rota.EnqueueGroup:
		return s.enqueueGroup(c)
	case *rota.CancelGroup:
		return s.cancelGroup(c)
	case *rota.Reserve:
		return s.reserve(c)
	case *rota.Direct:
		return s.direct(c)
	case *rota.Release:
		return s.release(c)
	case *rota.Expire:
		return s.expire(c)
	case *rota.Sweep:
		return s.sweep(c)
	case *rota.Prune:
		return s.prune(c)
	case *rota.Redrive:
		return s.redrive(c)
	case *rota.Remember:
		return s.remember(c)
	case *rota.SetOwner:
		return s.setOwner(c)
	}
	return s.decideAccess(c)
}

// decideAccess executes the verbs about users, roles and tokens.
func (s *step) decideAccess(c rota.Command) (rota.Reply, *rota.Error) {
	switch c := c.(type) {
	case *rota.PutPrincipal:
		return s.putPrincipal(c)
	case *rota.DropPrincipal:
		return s.dropPrincipal(c)
	case *rota.GrantPrivileges:
		return s.grantPrivileges(c)
	case *rota.PutToken:
		return s.putToken(c)
	case *rota.RevokeToken:
		return s.revokeToken(c)
	case *rota.TouchTokens:
		return s.touchTokens(c)
	case *rota.RecordAccess:
		return s.recordAccess(c)
	case *rota.PutSecret:
		return s.putSecret(c)
	case *rota.DeleteSecret:
		return s.deleteSecret(c)
	case *rota.RewrapSecrets:
		return s.rewrapSecrets(c)
	case *rota.PromoteSecretKey:
		return s.promoteSecretKey(c)
	}
	return nil, rota.Errorf(rota.Internal, string(c.Verb()), "the model does not implement this verb")
}

// id returns the id of the command, from which the ids of the rows that it creates are derived.
func (s *step) id() rota.ID { return s.command.Head().ID }

// actor returns the actor of the command.
// A finish has none: what follows from the end of a run is an act of Rota.
func (s *step) actor() string {
	if s.command.Verb() == rota.VerbFinish {
		return ""
	}
	return s.command.Head().Actor
}

// refuse refuses the command because of a field.
func (s *step) refuse(code rota.Code, field, format string, args ...any) *rota.Error {
	err := rota.Errorf(code, string(s.command.Verb()), format, args...)
	err.Field = field
	return err
}
