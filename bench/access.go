package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/store/sqlite"
)

// The cost of the Guard: the same requests to a server, and to one whose Guard passes everything on to the store.
const (
	guardEnqueueCase  = "access/enqueue"
	guardTemplateCase = "access/enqueue/template"
	guardClaimCase    = "access/claim"
	guardCreateCase   = "access/create"

	guardLeast       = 0.97 // of the speed without the Guard
	guardConnections = 32
	guardRequests    = 40 // of a connection in a turn
	guardCreates     = 10
)

// The subjects: who sends the requests, and to which server.
const (
	guardedAdmin   = "admin"
	unguardedAdmin = "admin, no Guard"
	guardedUser    = "user"
	unguardedUser  = "user, no Guard"
)

// guardCase is one kind of request.
type guardCase struct {
	name, path, body string
	worker           bool // the user sends its worker token
	queued           bool // each request needs a job in the queue
}

func guardCases() []guardCase {
	return []guardCase{
		{name: guardEnqueueCase, path: "/jobs", body: fmt.Sprintf(`{"type":%q,"params":%s}`, jobType, paramsText())},
		{name: guardTemplateCase, path: "/jobs", body: fmt.Sprintf(`{"template":%q}`, benchUserJob)},
		{name: guardClaimCase, path: "/claim", worker: true, queued: true, body: fmt.Sprintf(`{"worker":%q,"types":[%q],"lease":"1h"}`, worker, jobType)},
		{name: guardCreateCase},
	}
}

func accessBenchmarks() (all []benchmark) {
	for _, c := range guardCases() {
		all = append(all, benchmark{
			cases: []string{c.name},
			bars: []bar{
				{caseName: c.name, subject: unguardedAdmin, against: guardedAdmin, least: guardLeast},
				{caseName: c.name, subject: unguardedUser, against: guardedUser, least: guardLeast},
			},
			run: c.run,
		})
	}
	return append(all, pageBenchmarks()...)
}

// The user of the benchmarks, and the template that it may execute and see.
const (
	benchUser     = "ci"
	benchPassword = "a password of the benchmarks"
	benchUserJob  = "bench-shared"
)

// userTokens are the tokens of the user.
type userTokens struct{ write, worker string }

// declareUser creates a store with the type of the benchmark jobs, and a user that has its privileges through a role.
func declareUser(ctx context.Context, path string, queued int) (tokens userTokens, err error) {
	schema, err := payload.Schema(benchJob{})
	if err != nil {
		return tokens, err
	}
	meta, verifier := func() rota.Meta { return rota.NewMeta(rota.AdminUser) }, access.NewVerifier(benchPassword).String()
	commands := []rota.Command{
		&rota.PutType{Meta: meta(), Name: jobType, Spec: rota.TypeSpec{Schema: schema}},
		&rota.PutTemplate{Meta: meta(), Name: benchUserJob, Spec: rota.TemplateSpec{Type: jobType, Params: []byte(paramsText())}},
		&rota.PutPrincipal{Meta: meta(), Name: "team", Kind: rota.KindRole},
		&rota.PutPrincipal{Meta: meta(), Name: benchUser, Kind: rota.KindUser, Verifier: &verifier},
		&rota.GrantPrivileges{Meta: meta(), To: []string{benchUser}, Role: "team"},
		&rota.GrantPrivileges{Meta: meta(), To: []string{"team"}, Privileges: []rota.Privilege{rota.CreateJob}},
		&rota.GrantPrivileges{Meta: meta(), To: []string{"team"}, Job: benchUserJob, Privileges: []rota.Privilege{rota.ExecuteJob, rota.ViewJobHistory}},
	}
	for scope, to := range map[rota.TokenScope]*string{rota.ScopeWrite: &tokens.write, rota.ScopeWorker: &tokens.worker} {
		put := newToken(benchUser, scope, to)
		commands = append(commands, put)
	}
	return tokens, withStore(path, func(store *sqlite.Store) error {
		for _, c := range commands {
			if _, err := apply[rota.Reply](ctx, store, c); err != nil {
				return err
			}
		}
		return enqueueAll(ctx, store, queued)
	})
}

// newToken returns the command that creates a token of a user, and sets to to the token.
func newToken(user string, scope rota.TokenScope, to *string) *rota.PutToken {
	id, token := access.NewToken()
	*to = token
	return &rota.PutToken{Meta: rota.NewMeta(rota.AdminUser), TokenID: id, User: user, Scope: scope, Hash: access.HashToken(token)}
}

// guardServer is a server with callers of both users.
type guardServer struct {
	server  *server
	path    string
	emptied bool // all jobs of the queue must be claimed
	close   []func()
}

func (c guardCase) run(b *bench) (err error) {
	b.report.explain("access/…: what is measured", fmt.Sprintf(
		"The processor time of a server in a separate process per request, by %d connections with one request at a time each: POST /jobs with one\n"+
			"job, POST /claim of one job, and CREATE JOB on the SQL port. %q is the user of the token file; %q has a role with CREATE JOB, and\n"+
			"EXECUTE JOB and VIEW JOB HISTORY on one template. %q is a server that was built with this change of its source:\n%v",
		guardConnections, guardedAdmin, guardedUser, "no Guard", withoutGuard.edits))
	binary, err := b.binary()
	if err != nil {
		return err
	}
	bare, err := withoutGuard.build(b, "..", "./cmd/rota")
	if err != nil {
		return err
	}
	var subjects []turnSubject
	for _, one := range []struct{ binary, name, admin, user string }{
		{binary, "guarded", guardedAdmin, guardedUser}, {bare, "bare", unguardedAdmin, unguardedUser},
	} {
		s := &guardServer{path: b.file("access-" + one.name), emptied: c.queued}
		defer func() { err = errors.Join(err, s.end(b)) }()
		tokens, err := declareUser(b.ctx, s.path, c.jobs(b))
		if err != nil {
			return err
		}
		if s.server, err = b.serveBinary(one.binary, "access-"+one.name, s.path); err != nil {
			return err
		}
		admin, err := c.subject(b, s, one.admin, s.server.token, rota.AdminUser, s.server.token)
		if err != nil {
			return err
		}
		token := tokens.write
		if c.worker {
			token = tokens.worker
		}
		user, err := c.subject(b, s, one.user, token, benchUser, benchPassword)
		if err != nil {
			return err
		}
		subjects = append(subjects, admin, user)
	}
	return b.takeTurns(c.name, "processor time of the server per request", subjects...)
}

// jobs is how many jobs the queue of a server needs.
func (c guardCase) jobs(b *bench) int {
	if !c.queued {
		return 0
	}
	return 2 * (b.sized(turns, 2) + 1) * guardConnections * b.sized(guardRequests, 2)
}

// subject returns the turns of a user: requests with a token, or CREATE JOB with a password.
func (c guardCase) subject(b *bench, s *guardServer, name, token, user, password string) (turnSubject, error) {
	if c.path == "" {
		return createSubject(b, s, name, user, password)
	}
	each, call := b.sized(guardRequests, 2), s.server.callers(guardConnections, httpRequest{c.path, token, c.body})
	s.close = append(s.close, call.close)
	return turnSubject{name, func(context.Context) (float64, error) {
		return s.server.processorPer(guardConnections*each, func() error { return call.all(each) })
	}}, nil
}

// createSubject returns the turns of a user that creates jobs on the SQL port.
func createSubject(b *bench, s *guardServer, name, user, password string) (turnSubject, error) {
	conns := make([]*pgconn.PgConn, guardConnections)
	err := concurrently(guardConnections, func(i int) error {
		config, err := pgconn.ParseConfig(fmt.Sprintf("postgres://%s/rota?sslmode=disable", s.server.sql))
		if err != nil {
			return err
		}
		config.User, config.Password = user, password
		conns[i], err = pgconn.ConnectConfig(b.ctx, config)
		return err
	})
	if err != nil {
		return turnSubject{}, err
	}
	s.close = append(s.close, func() {
		for _, c := range conns {
			_ = c.Close(b.ctx)
		}
	})
	each, turn := b.sized(guardCreates, 2), 0
	return turnSubject{name, func(ctx context.Context) (float64, error) {
		turn++
		return s.server.processorPer(guardConnections*each, func() error {
			return concurrently(guardConnections, func(i int) error {
				for k := range each {
					text := fmt.Sprintf("CREATE JOB %s_%d_%d_%d SCHEDULE = EVERY 1 HOUR AS 'SELECT 1'", user, turn, i, k)
					if _, err := conns[i].Exec(ctx, text).ReadAll(); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}}, nil
}

// processorPer returns the processor time of the server for each of n operations, in µs.
func (s *server) processorPer(n int, work func() error) (float64, error) {
	before, err := processorOf(s.child.Process.Pid)
	if err == nil {
		err = work()
	}
	if err != nil {
		return 0, err
	}
	after, err := processorOf(s.child.Process.Pid)
	return (after - before).Seconds() * 1e6 / float64(n), err
}

// end stops the server, and checks its store.
func (s *guardServer) end(b *bench) error {
	defer b.drop(s.path)
	for _, one := range s.close {
		one()
	}
	if s.server == nil {
		return nil
	}
	if err := errors.Join(s.server.stop(), verify(b.ctx, s.path)); err != nil {
		return err
	}
	left, err := count(s.path)
	if err == nil && s.emptied && left.queued > 0 {
		err = fmt.Errorf("%d jobs were not claimed", left.queued)
	}
	return err
}

// turnCallers are callers that connect in their first turn, which is a warm-up: a server closes a connection that has sent no
// request after five seconds, and the turns of others may take longer.
type turnCallers struct {
	server  *server
	n       int
	request httpRequest
	dialled []*caller
}

func (s *server) callers(n int, r httpRequest) *turnCallers {
	return &turnCallers{server: s, n: n, request: r}
}

// all lets each caller send the given number of requests.
func (t *turnCallers) all(each int) (err error) {
	if t.dialled == nil {
		if t.dialled, err = dialAll(t.server, t.n, t.request); err != nil {
			return err
		}
	}
	return callAll(t.dialled, each)
}

func (t *turnCallers) close() {
	for _, c := range t.dialled {
		_ = c.conn.Close()
	}
}
