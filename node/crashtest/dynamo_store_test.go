//go:build unix

package main

import (
	"context"
	"log/slog"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// dynamoParameters are those of the servers. The skew allows the lease of the stale
// worker, which is the shortest there is.
const dynamoParameters = "&skew=100ms&poll=2s"

// dynamoStore is a table.
type dynamoStore struct {
	server *dyntest.Server
	table  string
	client *dynamodb.Client
	every  int // every n-th request of a server fails; 0: none
}

// newDynamoCluster creates a cluster on a new table. The server of the table must be one
// of this test.
func newDynamoCluster(t *testing.T, server *dyntest.Server, servers int, settings ...string) *testCluster {
	t.Helper()
	return newClusterOn(t, &dynamoStore{server: server, table: server.TableName(t), client: server.Client(t)}, servers, append(dynamoSettings(), settings...)...)
}

// dynamoSettings are the credentials of the servers, which have no environment but their settings.
func dynamoSettings() []string {
	return []string{"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true"}
}

// dynamo returns the store of a cluster on DynamoDB.
func (f *testCluster) dynamo() *dynamoStore { return f.shared.(*dynamoStore) }

func (s *dynamoStore) connect(f *testCluster) (faultProxy, string) {
	proxy := &dynamoProxy{Proxy: s.server.Proxy(f), store: s}
	return proxy, proxy.URL(s.table) + dynamoParameters
}

func (s *dynamoStore) open(f *testCluster) (rota.Store, error) { return s.openIn(f, f.TempDir()) }

// openIn opens the store read-only, with its replica in a directory that no server uses.
func (s *dynamoStore) openIn(f *testCluster, dir string) (rota.Store, error) {
	return dynamo.Open(f.Context(), s.server.URL(s.table)+dynamoParameters, dynamo.Config{Dir: dir, ReadOnly: true, Logger: slog.New(slog.DiscardHandler)})
}

// probe writes an item that no server reads. It fails until a server has created the table.
func (s *dynamoStore) probe(ctx context.Context) (write func() error, end func(), err error) {
	write = func() error {
		_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: itemKey("crashtest#probe", "-")})
		return err
	}
	return write, func() {}, nil
}

// dynamoProxy is the proxy of a server. Requests that are sent meanwhile wait, or their
// connections break.
type dynamoProxy struct {
	*dyntest.Proxy
	store *dynamoStore
}

// Hold has requests wait before DynamoDB has them.
func (p *dynamoProxy) Hold() { p.Freeze() }

// Cut closes all connections, and refuses new ones until Resume.
func (p *dynamoProxy) Cut() { p.Refuse() }

// Resume ends all faults but that of every n-th request.
func (p *dynamoProxy) Resume() {
	p.Heal()
	p.Every(p.store.every)
}

// dynamoProxy returns the proxy of a server of a cluster on DynamoDB.
func (s *testServer) dynamoProxy() *dynamoProxy { return s.proxy.(*dynamoProxy) }
