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
	mux              *http.ServeMux
	doc              huma.API
	auth             *authenticator
	semaphores       semaphores
	largeBodies      semaphore // large ones
	limiter          *rateLimiter
	anonymousLimiter *rateLimiter // of those who show no token, so that they take nothing from those who do
	pageBytes        int
	freeDisk         func(dir string) (free uint64, known bool)
	longPoll         *longPoll // of workers
	registry         *workerRegistry
	pendingLogs      *pendingLogs
	lastAuditSeq     atomic.Int64 // the number of an entry of the audit that there is
	notReadyReason   atomic.Value // why the server was last not ready, as it was logged
}

// New makes the handler of everything that Rota answers over HTTP.
func New(config Config) (http.Handler, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	a := &api{
		Config: config, mux: http.NewServeMux(), auth: newAuthenticator(config.Token, config.Clock),
		semaphores: newSemaphores(&config), largeBodies: make(semaphore, config.LargeMax),
		limiter: newRateLimiter(config.Rate, config.Clock), anonymousLimiter: newRateLimiter(config.Rate, config.Clock),
		pageBytes: pageBytesMax, freeDisk: freeDiskSpace, longPoll: newLongPoll(&config), registry: newWorkerRegistry(config.Clock), pendingLogs: newPendingLogs(),
	}
	a.doc = humago.New(a.mux, openAPI(config.Version))
	a.routes()
	a.publicRoutes()
	return a, nil
}

func (a *api) routes() {
	a.typeRoutes()
	a.templateRoutes()
	a.scheduleRoutes()
	a.scheduleActionRoutes()
	a.jobRoutes()
	a.jobActionRoutes()
	a.bulkRoutes()
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

// publicRoutes registers what needs no token.
func (a *api) publicRoutes() {
	a.mux.HandleFunc("GET /healthz", a.healthz)
	a.mux.HandleFunc("GET /readyz", a.readyz)
	if a.Metrics != nil {
		a.mux.Handle("GET /metrics", a.Metrics)
	}
	a.mux.HandleFunc("GET /{$}", a.homePage)
	a.mux.HandleFunc("/", a.notFound)
	a.docRoutes()
}

// ServeHTTP answers one request.
func (a *api) ServeHTTP(response http.ResponseWriter, r *http.Request) {
	w := &trackedWriter{ResponseWriter: response}
	defer a.recoverPanic(w, r)
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if !strings.HasPrefix(r.URL.Path, base+"/") {
		a.mux.ServeHTTP(w, r)
		return
	}
	h.Set("Cache-Control", "no-store")
	actor, refusal := a.auth.actor(r)
	limiter := a.limiter
	if refusal != nil {
		limiter = a.anonymousLimiter
	}
	switch {
	case !limiter.allow():
		writeProblem(w, rateExceeded())
	case refusal != nil:
		writeProblem(w, refusal)
	default:
		authenticated := withActor(r, actor)
		defer func() { r.Pattern = authenticated.Pattern }() // for whoever counts requests around this
		a.mux.ServeHTTP(w, authenticated)
	}
}

// recoverPanic keeps a panic from ending the server.
func (a *api) recoverPanic(w *trackedWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { // how a handler hangs up
		panic(p)
	}
	a.Logger.Error("a request panicked", slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
	if w.started { // what comes after the first half of an answer is not read as an error
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, problemOf(fmt.Errorf("panic: %v", p)))
}

// trackedWriter knows whether an answer was begun.
type trackedWriter struct {
	http.ResponseWriter
	started bool
}

// WriteHeader begins the answer.
func (w *trackedWriter) WriteHeader(status int) {
	w.started = true
	w.ResponseWriter.WriteHeader(status)
}

// Write begins the answer, if nothing has.
func (w *trackedWriter) Write(data []byte) (int, error) {
	w.started = true
	return w.ResponseWriter.Write(data)
}

// Unwrap lets a ResponseController reach what is behind.
func (w *trackedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// notFound answers what no route is for, and says which methods the address has.
func (a *api) notFound(w http.ResponseWriter, r *http.Request) {
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
