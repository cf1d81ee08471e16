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
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi/longpoll"
)

// server is the HTTP handler.
type server struct {
	Config
	mux              *http.ServeMux
	doc              huma.API
	auth             *authenticator
	semaphores       semaphores
	largeBodies      semaphore // limits large bodies that are read at the same time
	limiter          *rateLimiter
	anonymousLimiter *rateLimiter // for requests without a valid token, so that they do not use up the rate of valid ones
	pageBytes        int
	freeDisk         func(dir string) (free uint64, known bool)
	longPoll         *longpoll.Poller
	registry         *workerRegistry
	pendingLogs      *pendingLogs
	maskedRuns       *maskedRuns
	notReadyReason   atomic.Value // last logged reason why the server is not ready
}

// New creates the handler for all HTTP requests of a Rota server.
func New(config Config) (http.Handler, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	a := &server{
		Config: config, mux: http.NewServeMux(), auth: newAuthenticator(&config),
		semaphores: newSemaphores(&config), largeBodies: make(semaphore, config.LargeMax),
		limiter: newRateLimiter(config.Rate, config.Clock), anonymousLimiter: newRateLimiter(config.Rate, config.Clock),
		pageBytes: pageBytesMax, freeDisk: freeDiskSpace, longPoll: longpoll.New(config.Store, config.Logger, config.OnPolls), registry: newWorkerRegistry(config.Clock), pendingLogs: newPendingLogs(),
		maskedRuns: newMaskedRuns(config.Clock),
	}
	a.doc = humago.New(a.mux, openAPI(config.Version))
	a.routes()
	a.publicRoutes()
	return a, nil
}

func (a *server) routes() {
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
	a.auditVerifyRoutes()
	a.auditExportRoutes()
	a.eventRoutes()
	a.logRoutes()
	a.backupRoutes()
	a.verifyRoutes()
	a.workerRoutes()
	a.webhookRoutes()
	a.definitionRoutes()
	a.sqlRoutes()
	a.userRoutes()
	a.roleRoutes()
	a.grantRoutes()
	a.tokenRoutes()
	a.secretRoutes()
	a.meRoutes()
	a.loginRoutes()
}

// publicRoutes registers the routes that need no token.
func (a *server) publicRoutes() {
	a.mux.HandleFunc("GET /healthz", a.healthz)
	a.mux.HandleFunc("GET /readyz", a.readyz)
	if a.Metrics != nil {
		a.mux.Handle("GET /metrics", a.Metrics)
	}
	a.mux.HandleFunc("/", a.notFound)
	a.docRoutes()
}

// ServeHTTP handles one request.
func (a *server) ServeHTTP(response http.ResponseWriter, r *http.Request) {
	w := &trackedWriter{ResponseWriter: response}
	defer a.recoverPanic(w, r)
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if !strings.HasPrefix(r.URL.Path, base+"/") {
		a.mux.ServeHTTP(w, r)
		return
	}
	h.Set("Cache-Control", "no-store")
	if isLogin(r) {
		a.serveAnonymous(w, r)
		return
	}
	identity, refusal := a.auth.identity(r)
	limiter := a.limiter
	if refusal != nil {
		limiter = a.anonymousLimiter
	}
	switch {
	case !limiter.allow():
		writeProblem(w, rateExceeded())
	case refusal != nil:
		refusal.write(w)
	case !a.allowUser(w, identity.User):
	default:
		authenticated := withIdentity(r, identity)
		defer func() { r.Pattern = authenticated.Pattern }() // read by middleware that counts requests by route
		a.mux.ServeHTTP(w, authenticated)
	}
}

// serveAnonymous handles a request of nobody, whose identity has no rights.
func (a *server) serveAnonymous(w http.ResponseWriter, r *http.Request) {
	if !a.anonymousLimiter.allow() {
		writeProblem(w, rateExceeded())
		return
	}
	a.mux.ServeHTTP(w, r)
}

// recoverPanic keeps the server running when a handler panics.
func (a *server) recoverPanic(w *trackedWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { // raised by abortResponse
		panic(p)
	}
	a.Logger.Error("request handler panicked", slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
	if w.started { // too late to send an error response; the client must see an aborted one
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, problemOf(fmt.Errorf("panic: %v", p)))
}

// trackedWriter records whether the response has started.
type trackedWriter struct {
	http.ResponseWriter
	started bool
}

// WriteHeader starts the response.
func (w *trackedWriter) WriteHeader(status int) {
	w.started = true
	w.ResponseWriter.WriteHeader(status)
}

// Write starts the response if WriteHeader has not.
func (w *trackedWriter) Write(data []byte) (int, error) {
	w.started = true
	return w.ResponseWriter.Write(data)
}

// Unwrap gives http.ResponseController access to the wrapped writer.
func (w *trackedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// notFound answers requests that match no route. If the path exists with other methods, it lists them.
func (a *server) notFound(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := *r
		other.Method = method
		if _, pattern := a.mux.Handler(&other); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		writeProblem(w, &api.Problem{
			Title: "Not found", Status: http.StatusNotFound, Code: "not_found", Detail: "this path does not exist",
			Hint: "see /docs for the list of paths",
		})
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeProblem(w, &api.Problem{
		Title: "Method not allowed", Status: http.StatusMethodNotAllowed, Code: codeMethod,
		Detail: "this path does not support the method of the request", Hint: "use " + strings.Join(allowed, ", "),
	})
}
