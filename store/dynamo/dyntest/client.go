package dyntest

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// URL returns the URL of the store in a table.
func (s *Server) URL(table string) string { return storeURL(table, s.region, s.endpoint) }

func storeURL(table, region, endpoint string) string {
	query := url.Values{"region": {region}}
	if endpoint != "" {
		query.Set("endpoint", endpoint)
	}
	u := url.URL{Scheme: "dynamodb", Host: table, RawQuery: query.Encode()}
	return u.String()
}

// Client returns a client of the server that sends each request once.
func (s *Server) Client(t testing.TB, options ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	return s.clientAt(t, s.endpoint, options...)
}

func (s *Server) clientAt(t testing.TB, endpoint string, options ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	load := []func(*config.LoadOptions) error{config.WithRegion(s.region)}
	if s.kind != DynamoDB {
		load = append(load, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("test", "test", "")))
	}
	c, err := config.LoadDefaultConfig(context.Background(), load...)
	if err != nil {
		t.Fatal(err)
	}
	return dynamodb.NewFromConfig(c, append([]func(*dynamodb.Options){func(o *dynamodb.Options) {
		o.Retryer = aws.NopRetryer{}
		if endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
	}}, options...)...)
}

// TableName returns a name that no other test uses. It creates no table. A table of this name is deleted after the test.
func (s *Server) TableName(t testing.TB) string {
	t.Helper()
	name := s.prefix + "-test-" + strings.ToLower(rand.Text()[:12])
	client := s.Client(t)
	t.Cleanup(func() {
		if s.process != nil && s.process.hasExited() {
			return
		}
		ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
		defer done()
		// The test may have created no table, or have deleted it.
		_, _ = client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
	})
	return name
}
