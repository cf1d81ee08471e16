package access

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotajobs/rota"
)

// check decides one command of an identity. It collects the definitions that the decision depends on.
type check struct {
	ctx context.Context
	*authority
	store   rota.Reader
	objects *objects
	relied  []*object             // read from the store or guessed, in this order
	jobOf   map[*object]bool      // relied on as the definition of a job only: its version does not matter
	made    map[objectKey]*object // as earlier members of an All leave them
	inAll   bool                  // the command is a member of an All
	guesses bool                  // a command that only creates is assumed to find nothing
}

func newCheck(ctx context.Context, a *authority, store rota.Reader) *check {
	return &check{
		ctx: ctx, authority: a, store: store, objects: newObjects(store), jobOf: map[*object]bool{}, made: map[objectKey]*object{},
	}
}

// object returns a definition as the command finds it.
func (k *check) object(kind, name string) (*object, error) {
	key := objectKey{kind, name}
	if o := k.made[key]; o != nil {
		return o, nil
	}
	o, err := k.objects.get(k.ctx, kind, name)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(k.relied, o) {
		k.relied = append(k.relied, o)
	}
	delete(k.jobOf, o)
	return o, nil
}

// target returns the definition that a put finds. If it only creates, the check assumes that there is none, which saves a
// read: the store refuses the command otherwise, and the Guard decides again.
func (k *check) target(kind, name string, mode rota.PutMode) (*object, error) {
	key := objectKey{kind, name}
	if k.guesses && mode == rota.PutCreate && k.made[key] == nil && k.objects.read[key] == nil {
		absent := &object{kind: kind, name: name}
		k.objects.read[key], k.objects.guessed = absent, true
		k.relied = append(k.relied, absent)
	}
	return k.object(kind, name)
}

// make records how a command leaves a definition, for the members of an All that follow. The definition belongs to the
// user if the command creates it or takes it over.
func (k *check) make(was *object, renewed bool, is object) {
	is.kind, is.name, is.exists, is.owner, is.since = was.kind, was.name, true, was.owner, was.since
	if renewed {
		is.owner, is.since = k.user, k.since
	}
	k.made[objectKey{is.kind, is.name}] = &is
}

// command returns why the identity may not send a command: a *rota.Error with Denied or NotFound, or the error of a
// read.
func (k *check) command(c rota.Command) error {
	n, known := verbNeeds[c.Verb()]
	if !known {
		return rota.Errorf(rota.Internal, string(c.Verb()), "the Guard has no row for it")
	}
	if k.revokesItself(c) {
		return nil
	}
	if err := k.inScope(n); err != nil {
		return err
	}
	switch n.class {
	case needInternal:
		return &rota.Error{Code: rota.Denied, Reason: fmt.Sprintf("only Rota itself sends %s", c.Verb())}
	case needAdmin:
		return k.orError(k.unrestricted(), k.missingOnAll(rota.Admin))
	case needSelf:
		return nil
	case needWorker:
		return k.worker(c)
	}
	return k.write(c)
}

func (k *check) orError(may bool, refusal *rota.Error) error {
	if may {
		return nil
	}
	return refusal
}

// worker checks a command of the worker protocol. Leases prove themselves by their tokens.
func (k *check) worker(c rota.Command) error {
	if k.token == nil || k.token.Scope != rota.ScopeWorker {
		return k.orError(k.admin && k.reaches(""), &rota.Error{
			Code: rota.Denied, Reason: fmt.Sprintf("user %s has no ADMIN, and sent no worker token", k.user),
			Hint: "use a token with the scope worker, which an administrator creates: rota token create --user " + k.user + " --scope worker",
		})
	}
	claim, is := c.(*rota.Claim)
	if !is || k.token.Type == "" {
		return nil
	}
	for _, typ := range claim.Types {
		if typ != k.token.Type {
			return &rota.Error{
				Code: rota.Denied, Reason: fmt.Sprintf("token %s may claim only jobs of type %s, not of type %s", k.token.ID, k.token.Type, typ),
				Hint: "claim only that type, or use another token",
			}
		}
	}
	return nil
}

// write checks a command that needs a privilege on what it changes.
func (k *check) write(c rota.Command) error {
	switch c := c.(type) {
	case *rota.All:
		return k.all(c)
	case *rota.Enqueue:
		return k.jobs(c.Jobs)
	case *rota.EnqueueGroup:
		return k.jobs(c.Jobs)
	case *rota.Direct:
		return k.newJob(&c.Job)
	case *rota.Cancel:
		return k.alterJob(c.JobID)
	case *rota.Edit:
		return k.edit(c)
	case *rota.Move:
		return k.move(c)
	case *rota.Redrive:
		return k.redrive(c)
	case *rota.CancelGroup:
		return k.cancelGroup(c)
	case *rota.PutTemplate:
		return k.putTemplate(c)
	case *rota.Unarchive:
		return k.unarchive(c)
	case *rota.Archive:
		return k.definition(kindTemplate, c.Name, rota.DropJob)
	case *rota.PutSchedule:
		return k.putSchedule(c)
	case *rota.PutSecret:
		return k.definition(kindTemplate, c.Template, rota.AlterJob)
	case *rota.DeleteSecret:
		return k.definition(kindTemplate, c.Template, rota.AlterJob)
	case *rota.SwitchSchedule:
		return k.definition(kindSchedule, c.Name, rota.AlterJob)
	case *rota.DeleteSchedule:
		return k.deleteSchedule(c.Name)
	case *rota.Drop:
		return k.drop(c)
	case *rota.Trigger:
		return k.trigger(c)
	case *rota.Backfill:
		return k.definition(kindSchedule, c.Schedule, rota.ExecuteJob)
	case *rota.PutPrincipal:
		return k.putPrincipal(c)
	case *rota.GrantPrivileges:
		return k.grant(c)
	case *rota.PutToken:
		return k.putToken(c)
	case *rota.RevokeToken:
		return k.revokeToken(c)
	}
	return k.orError(k.unrestricted(), k.missingOnAll(rota.Admin))
}

// all checks the members in order. Each sees the definitions as the ones before it leave them.
func (k *check) all(c *rota.All) error {
	k.inAll = true
	for _, m := range c.Members {
		if rota.IsNil(m) {
			continue // Validate reports it
		}
		if err := k.command(m); err != nil {
			return err
		}
	}
	return nil
}

// definition requires a privilege on a definition.
func (k *check) definition(kind, name string, p rota.Privilege) error {
	o, err := k.object(kind, name)
	if err != nil {
		return err
	}
	return k.onObject(o, p)
}

// onObject requires a privilege on a definition: NotFound if the identity may not see it, Denied if it lacks only the
// privilege.
func (k *check) onObject(o *object, p rota.Privilege) error {
	switch {
	case k.may(p, o) && (o.exists || k.onAll(p)):
		return nil // if it does not exist, the rules say so
	case !k.seesObject(o):
		return notFound(o.kind, o.name)
	}
	return k.missing(p, o)
}

// orHidden returns a refusal, or NotFound if the definition is not visible.
func (k *check) orHidden(o *object, refusal *rota.Error) error {
	if k.seesObject(o) {
		return refusal
	}
	return notFound(o.kind, o.name)
}

// create requires CREATE JOB. It is not about one definition, so a token for one job has it only for that name.
func (k *check) create(name string) error {
	if k.onAll(rota.CreateJob) && k.reaches(name) {
		return nil
	}
	if !k.reaches(name) {
		return k.outOfToken()
	}
	return k.missingOnAll(rota.CreateJob)
}

func (k *check) outOfToken() *rota.Error {
	return &rota.Error{
		Code: rota.Denied, Reason: fmt.Sprintf("token %s is for job %s only", k.token.ID, k.token.Job), Hint: "use a token without a job",
	}
}
