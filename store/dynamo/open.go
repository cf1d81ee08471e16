package dynamo

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/payload"
)

// Config has what the URL of a store does not say.
type Config struct {
	// Dir is the directory of the replica, which is created if it does not exist. No other process may use it. Its files may be deleted while no process
	// has the store open; the next one fills the replica from the table.
	Dir string
	// Retention says when DynamoDB may remove the items of ended jobs. Default rota.DefaultRetention.
	Retention rota.Retention
	// LogKeep is how long the logs of runs are kept. Default 30 days.
	LogKeep time.Duration
	// ReadOnly opens a store that exists, and writes nothing into the table.
	ReadOnly bool
	// AllowMoved opens a store that rota copy has moved to another one, and removes the mark.
	AllowMoved bool
	// New creates the table, and refuses one that exists.
	New bool
	// Logger receives what an operator should know. Default slog.Default.
	Logger *slog.Logger

	snapshots snapshotLimits // zero: the defaults; tests write snapshots earlier
}

// Store is a queue in a DynamoDB table.
type Store struct {
	*logstore.Store
	log     *commandLog
	layout  *layout
	logKeep time.Duration
	stop    context.CancelFunc // ends the background work
	work    sync.WaitGroup
}

// ReplicaName is the name of the file of the replica in its directory.
const ReplicaName = "replica.db"

// Open opens the store at a URL such as dynamodb://TABLE?region=REGION. It creates a table that does not exist.
func Open(ctx context.Context, url string, config Config) (*Store, error) {
	options, err := ParseURL(url)
	if err != nil {
		return nil, err
	}
	return OpenWith(ctx, options, config)
}

// OpenWith opens a store. The options are those of ParseURL.
func OpenWith(ctx context.Context, options Options, config Config) (*Store, error) {
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	if config.Retention == (rota.Retention{}) {
		config.Retention = rota.DefaultRetention
	}
	if config.LogKeep <= 0 {
		config.LogKeep = logKeepDefault
	}
	if config.Dir == "" {
		return nil, rota.Invalidf("dir", "is required: the replica of the table needs a directory")
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, &rota.Error{Code: rota.Invalid, Field: "dir", Reason: "cannot be created: " + err.Error(), Hint: "choose a directory that this process can write to"}
	}
	l := &commandLog{options: options, logger: config.Logger, self: rota.NewID(), readOnly: config.ReadOnly, lock: make(chan struct{}, 1), behind: make(chan struct{}, 1)}
	l.lead.log = l
	snapshots := &snapshotter{log: l, limits: config.snapshots.withDefaults()}
	var err error
	if l.table, err = connect(ctx, options); err != nil {
		return nil, err
	}
	if config.New {
		if err := l.table.createNew(ctx); err != nil {
			return nil, err
		}
	}
	if err := l.table.open(ctx, !config.ReadOnly); err != nil {
		return nil, err
	}
	m, err := l.openMeta(ctx)
	if err != nil {
		return nil, err
	}
	l.id = m.log
	if err := l.checkMoved(ctx, m, config.AllowMoved); err != nil {
		return nil, err
	}
	if err := l.openReplica(ctx, filepath.Join(config.Dir, ReplicaName)); err != nil {
		return nil, err
	}
	s := &Store{Store: logstore.New(l.replica, l), log: l, layout: &layout{log: l, retention: config.Retention}, logKeep: config.LogKeep}
	l.store = s.Store
	if options.Layout {
		l.poller = &poller{log: l, checker: payload.NewChecker(), retention: config.Retention}
	}
	if err := l.start(ctx, m, config.Dir); err != nil {
		_ = s.closeReplica()
		return nil, err
	}
	s.startWork(snapshots)
	return s, nil
}

// startWork starts the background work. A store that is open for reading has none: its reads catch up.
func (s *Store) startWork(snapshots *snapshotter) {
	work, stop := context.WithCancel(context.Background())
	s.stop = stop
	if s.log.readOnly {
		return
	}
	s.work.Go(func() { s.log.follow(work) })
	s.work.Go(func() { s.log.lead.run(work) })
	s.work.Go(func() { snapshots.run(work) })
	if s.log.options.Layout {
		s.work.Go(func() { s.layout.run(work) })
		s.work.Go(func() { s.log.poller.run(work) })
	}
}

// connect creates the client of the table. It sends every request once: what to do after a failure depends on
// the request.
func connect(ctx context.Context, options Options) (*table, error) {
	clock := newServiceClock()
	load := []func(*awsconfig.LoadOptions) error{awsconfig.WithLogger(logging.Nop{})}
	if options.Region != "" {
		load = append(load, awsconfig.WithRegion(options.Region))
	}
	c, err := awsconfig.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, &rota.Error{Code: rota.Invalid, Act: "dynamodb: open", Reason: "the configuration of AWS cannot be read", Err: err, Hint: "check AWS_PROFILE and the files in ~/.aws"}
	}
	if c.Region == "" {
		return nil, rota.Invalidf("region", "is not configured; write it into the URL of the store, as in dynamodb://TABLE?region=eu-west-1")
	}
	if err := checkCredentials(ctx, c.Credentials); err != nil {
		return nil, err
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 64
	client := dynamodb.NewFromConfig(c, func(o *dynamodb.Options) {
		o.Retryer = aws.NopRetryer{}
		o.Logger = logging.Nop{} // it would write to stderr about answers that nobody waits for any more
		o.HTTPClient = &transport{client: &http.Client{Transport: base}, clock: clock}
		if options.Endpoint != "" {
			o.BaseEndpoint = aws.String(options.Endpoint)
		}
	})
	return &table{client: client, name: options.Table, clock: clock}, nil
}

// checkCredentials names missing credentials before the first request, whose error would not.
func checkCredentials(ctx context.Context, provider aws.CredentialsProvider) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := provider.Retrieve(ctx)
	if err == nil {
		return nil
	}
	return &rota.Error{
		Code: rota.Unavailable, Act: "dynamodb: open", Reason: "this process finds no credentials of AWS", Err: err,
		Hint: "give it a role, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
	}
}

// start brings the replica to the end of the log.
func (l *commandLog) start(ctx context.Context, m meta, dir string) error {
	defer l.release()
	if at := l.replica.Applied(); at.Log != "" && at.Log != m.log {
		return &rota.Error{
			Code: rota.Conflict, Act: "dynamodb: open",
			Reason: fmt.Sprintf("the replica in the directory %s is that of another table than %s, or of a former table of this name", dir, l.table.name),
			Hint:   "use another directory, or delete the files " + ReplicaName + "* in this one",
		}
	}
	if err := l.startAt(ctx, m); err != nil {
		return err
	}
	return l.readSlots(ctx)
}

// startAt finds the position of the replica in the log, or fills the replica if the log begins after it.
func (l *commandLog) startAt(ctx context.Context, m meta) (err error) {
	index := l.replica.Applied().Index
	if m.begin > index+1 {
		return l.fill(ctx)
	}
	l.size, err = l.sizeAt(ctx, m, index)
	return err
}

// errAhead is the error of a replica that has applied a slot that the log does not have.
func (l *commandLog) errAhead(index uint64) error {
	return &rota.Error{
		Code: rota.Conflict, Act: "dynamodb: open", Reason: fmt.Sprintf("the replica in the data directory has applied slot %d, which the table %s does not have; the table was restored, or its items were removed", index, l.table.name),
		Hint: "if the table is as it should be, stop all processes and delete " + ReplicaName + " in their data directories",
	}
}

// Close ends the background work and closes the replica.
func (s *Store) Close() error {
	s.stop()
	s.work.Wait()
	return s.closeReplica()
}

func (s *Store) closeReplica() error {
	err := s.Store.Close()
	if err == nil {
		s.log.markClosed()
	}
	return err
}
