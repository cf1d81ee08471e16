package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/action/sandbox"
	"github.com/rotajobs/rota/engine"
)

// Commands runs the programs of exec jobs.
type Commands struct {
	config CommandConfig
	users  *access.Directory // nil: nobody is restricted
}

// RegisterExec registers the type exec alone. Without users, nobody is restricted: a server checks the rights of the jobs that it gives
// to a worker.
func RegisterExec(reg *engine.Registry, commands *Commands, users *access.Directory) {
	commands.within(users).register(reg)
}

// within returns the commands of a server with users.
func (c *Commands) within(users *access.Directory) *Commands {
	return &Commands{config: c.config, users: users}
}

// register registers the type exec.
func (c *Commands) register(reg *engine.Registry) {
	engine.Handle(reg, c.run, engine.WithDescription(execDescription))
}

// execDescription is the same whether commands are configured or not, since servers that share a store declare the type together.
const execDescription = "runs a program, if the configuration of the server allows it"

// run runs the program of a job.
func (c *Commands) run(ctx context.Context, p Exec) error {
	rules, err := c.authorize(ctx, engine.Job(ctx))
	if err != nil {
		return err
	}
	secrets, err := engine.AllSecrets(ctx)
	if err != nil {
		return err
	}
	command, closeAll, err := c.command(&p, secrets, rules)
	if err != nil {
		return err
	}
	defer closeAll()
	out := newOutput(engine.Output(ctx), rules.Output, func(to io.Writer) io.WriteCloser { return engine.MaskWriter(ctx, to) })
	command.Stdout, command.Stderr, command.Result = out.stdout(), out.stderr(), &out.result
	command.Timeout = engine.Job(ctx).Policy.Timeout
	process, err := sandbox.Start(*command)
	if err != nil {
		return startFailure(command.Program.Path(), &command.Policy, err)
	}
	exit, err := c.wait(ctx, process)
	out.flush()
	if err != nil {
		engine.Log(ctx).Warn("exec", "error", err.Error())
	}
	engine.ExitCode(ctx, exit.Code)
	if err := c.outcome(ctx, exit, rules); err != nil {
		return err
	}
	out.report(ctx)
	return nil
}

// authorize returns the rules of a job, if its user may run programs.
func (c *Commands) authorize(ctx context.Context, job *rota.Job) (CommandRules, error) {
	rights := &access.RunRights{User: job.CreatedBy, Admin: true, External: true}
	if c.users != nil {
		var err error
		if rights, err = c.users.RunRights(ctx, job); err != nil {
			err = rightsError(job, err)
			return CommandRules{}, c.refused(job, err)
		}
	}
	if !rights.Admin && !rights.External {
		return CommandRules{}, c.refused(job, permanentFailure(codeDenied, "%w", &rota.Error{
			Code: rota.Denied, Act: "exec", Reason: fmt.Sprintf("user %s has no right EXECUTE EXTERNAL JOB", rights.User),
			Hint: fmt.Sprintf("an administrator can change that: GRANT EXECUTE EXTERNAL JOB TO %s", rights.User),
		}))
	}
	rules, err := c.config.rulesOf(jobNames(job), append([]string{rights.User}, rights.Roles...))
	if err != nil {
		return CommandRules{}, permanentFailure(codeRefusedExec, "%w", err)
	}
	return rules, nil
}

// refused counts the error of a run in the audit if the user lacks a right.
func (c *Commands) refused(job *rota.Job, err error) error {
	var refusal *rota.Error
	if errors.As(err, &refusal) && refusal.Code == rota.Denied {
		c.users.RunDenied(job, refusal)
	}
	return err
}

// jobNames are the names by which the configuration can name a job.
func jobNames(job *rota.Job) (names []string) {
	for _, name := range []string{job.Template, job.Schedule} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// command builds the execution of a program. closeAll closes the program and removes the temporary directory.
func (c *Commands) command(p *Exec, secrets map[string]string, rules CommandRules) (command *sandbox.Command, closeAll func(), err error) {
	policy, account, err := c.policy(p, rules)
	if err != nil {
		return nil, nil, err
	}
	program, err := sandbox.Open(p.Command, policy)
	if err != nil {
		return nil, nil, c.openFailure(p.Command, err)
	}
	temporary, remove, err := temporaryDir(&policy)
	if err != nil {
		_ = program.Close()
		return nil, nil, failed(codeStart, "%w", err)
	}
	closeAll = func() {
		_ = program.Close()
		remove()
	}
	env, err := c.environment(p.Env, secrets, rules, account, temporary)
	if err != nil {
		closeAll()
		return nil, nil, err
	}
	command = &sandbox.Command{Program: program, Args: p.Args, Env: env, Policy: policy}
	if p.Stdin != "" {
		command.Stdin = stringsReader(p.Stdin)
	}
	return command, closeAll, nil
}

// policy is what the program of a job can reach.
func (c *Commands) policy(p *Exec, rules CommandRules) (policy sandbox.Policy, account *account, err error) {
	if account, err = chooseUser(p.User, rules.Users); err != nil {
		return policy, nil, permanentFailure(codeRefusedExec, "%w", err)
	}
	policy = sandbox.Policy{
		Isolation: rules.Isolation, Allow: rules.Allow, Search: searchDirs(), Read: existing(rules.Read), Write: expanded(rules.Write), Shared: expanded(c.config.Write), Hidden: c.config.Hidden,
		Network: rules.Network != nil && *rules.Network, User: account.policy(), Dir: rules.Dir,
		Memory: rules.Memory, CPU: rules.CPU, Processes: rules.Processes,
	}
	if p.Dir != "" {
		policy.Dir = p.Dir
	}
	if err := policy.Validate(); err != nil {
		return policy, nil, permanentFailure(codeParams, "%w", err)
	}
	return policy, account, nil
}

// temporaryDir returns the value of TMPDIR. With full isolation each program has its own /tmp. Otherwise it gets a directory that is
// removed after its end.
func temporaryDir(p *sandbox.Policy) (dir string, remove func(), err error) {
	if p.Isolation == sandbox.Full {
		return "/tmp", func() {}, nil
	}
	t, err := newTemporary(p.User)
	if err != nil {
		return "", nil, err
	}
	p.Write = append(p.Write[:len(p.Write):len(p.Write)], t.path)
	return t.path, t.remove, nil
}

// wait waits for the end of a program. If the context ends first, the program gets SIGTERM, and SIGKILL with everything it started
// before the engine gives up waiting.
func (c *Commands) wait(ctx context.Context, p *sandbox.Process) (exit sandbox.Exit, err error) {
	ended := make(chan struct{})
	go func() {
		exit, err = p.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return exit, err
	case <-ctx.Done():
	}
	orderErr := p.Terminate()
	select {
	case <-ended:
	case <-time.After(c.config.killAfter()):
		orderErr = errors.Join(orderErr, p.Kill())
		<-ended
	}
	return exit, errors.Join(err, orderErr)
}

// outcome is the error of a run whose program has ended, nil if it has completed. A program that was asked to end has not completed,
// whatever its exit code is.
func (c *Commands) outcome(ctx context.Context, exit sandbox.Exit, rules CommandRules) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	switch {
	case exit.Limit == "memory":
		return failed(codeMemory, "the program needed more memory than %d bytes; raise memory in the section exec, or let it use less", rules.Memory)
	case exit.Limit != "":
		return failed(codeLimit, "the program reached its limit of %s", exit.Limit)
	case exit.Signal != 0:
		return failed(codeSignal, "signal %d (%s) ended the program", int(exit.Signal), exit.Signal)
	case exit.Code != 0:
		return failed(codeExit, "the program ended with exit code %d; the log of the run has its output", exit.Code)
	}
	return nil
}
