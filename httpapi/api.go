package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// api answers requests.
type api struct {
	Config
	mux       *http.ServeMux
	doc       huma.API
	gate      *gate
	crowds    crowds
	bodies    crowd // large ones
	pace      *pace
	strangers *pace // of those who show no token, so that they take nothing from those who do
	pageBytes int
	room      func(dir string) (free uint64, known bool)
	waiting   *waitingRoom // of workers
	staff     *staff
	logsDue   *logsDue
	audited   atomic.Int64 // the number of an entry of the audit that there is
	complaint atomic.Value // why the server was last not ready, as it was logged
}

// New makes the handler of everything that Rota answers over HTTP.
func New(config Config) (http.Handler, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	a := &api{
		Config: config, mux: http.NewServeMux(), gate: newGate(config.Token, config.Clock),
		crowds: newCrowds(&config), bodies: make(crowd, config.LargeMax),
		pace: newPace(config.Rate, config.Clock), strangers: newPace(config.Rate, config.Clock),
		pageBytes: pageBytesMax, room: roomIn, waiting: newWaitingRoom(&config), staff: newStaff(config.Clock), logsDue: newLogsDue(),
	}
	a.doc = humago.New(a.mux, openAPI(config.Version))
	a.routes()
	return a, a.open()
}

func (a *api) routes() {
	a.typeRoutes()
	a.templateRoutes()
	a.scheduleRoutes()
	a.scheduleActRoutes()
	a.jobRoutes()
	a.jobActRoutes()
	a.manyRoutes()
	a.queueRoutes()
	a.executionRoutes()
	a.groupRoutes()
	a.directRoutes()
	a.reservationRoutes()
	a.deadRoutes()
	a.limitRoutes()
	a.statsRoutes()
	a.auditRoutes()
	a.eventRoutes()
	a.logRoutes()
	a.backupRoutes()
	a.verifyRoutes()
	a.workerRoutes()
	a.webhookRoutes()
	a.definitionRoutes()
	a.sqlRoutes()
}

// open registers what needs no token.
func (a *api) open() error {
	a.mux.HandleFunc("GET /healthz", a.healthz)
	a.mux.HandleFunc("GET /readyz", a.readyz)
	if a.Metrics != nil {
		a.mux.Handle("GET /metrics", a.Metrics)
	}
	a.mux.HandleFunc("GET /{$}", a.page)
	a.mux.HandleFunc("/", a.lost)
	return a.docRoutes()
}

// ServeHTTP answers one request.
func (a *api) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	w := &begun{ResponseWriter: to}
	defer a.shield(w, r)
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if !strings.HasPrefix(r.URL.Path, base+"/") {
		a.mux.ServeHTTP(w, r)
		return
	}
	h.Set("Cache-Control", "no-store")
	actor, refusal := a.gate.actor(r)
	pace := a.pace
	if refusal != nil {
		pace = a.strangers
	}
	switch {
	case !pace.allow():
		writeProblem(w, tooFast())
	case refusal != nil:
		writeProblem(w, refusal)
	default:
		asked := withActor(r, actor)
		defer func() { r.Pattern = asked.Pattern }() // for whoever counts requests around this
		a.mux.ServeHTTP(w, asked)
	}
}

// shield keeps a panic from ending the server.
func (a *api) shield(w *begun, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { // how a handler hangs up
		panic(p)
	}
	a.Logger.Error("a request panicked", slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
	if w.wrote { // what comes after the first half of an answer is not read as an error
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, problemOf(fmt.Errorf("panic: %v", p)))
}

// begun knows whether an answer was begun.
type begun struct {
	http.ResponseWriter
	wrote bool
}

// WriteHeader begins the answer.
func (b *begun) WriteHeader(status int) {
	b.wrote = true
	b.ResponseWriter.WriteHeader(status)
}

// Write begins the answer, if nothing has.
func (b *begun) Write(data []byte) (int, error) {
	b.wrote = true
	return b.ResponseWriter.Write(data)
}

// Unwrap lets a ResponseController reach what is behind.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// lost answers what no route is for, and says which methods the address has.
func (a *api) lost(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := *r
		other.Method = method
		if _, pattern := a.mux.Handler(&other); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		writeProblem(w, &Problem{
			Title: "Not found", Status: http.StatusNotFound, Code: "not_found", Detail: "there is nothing at this address",
			Hint: "the addresses stand at /docs",
		})
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeProblem(w, &Problem{
		Title: "Method not allowed", Status: http.StatusMethodNotAllowed, Code: codeMethod,
		Detail: "this address has no such method", Hint: "it has " + strings.Join(allowed, ", "),
	})
}
