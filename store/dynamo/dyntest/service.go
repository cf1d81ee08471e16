package dyntest

import (
	"fmt"
	"net/url"
	"os"
	"sync"
)

// URLVar names the environment variable with the URL of the service that takes the place of Dynoxide in Shared.
const URLVar = "ROTA_TEST_DYNAMODB"

// openService returns a server that is not a child of this process: DynamoDB itself.
func openService(raw string) (*Server, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", URLVar, err)
	}
	query := u.Query()
	s := &Server{kind: DynamoDB, prefix: u.Host, region: query.Get("region"), endpoint: query.Get("endpoint")}
	if u.Scheme != "dynamodb" || s.prefix == "" || s.region == "" {
		return nil, fmt.Errorf("%s: want dynamodb://PREFIX?region=REGION, got %q", URLVar, raw)
	}
	return s, nil
}

// setCredentials sets credentials of no account in the environment of this process and its children, so that no test sends those of the
// developer to a server. With ROTA_TEST_DYNAMODB the credentials of the environment stay.
var setCredentials = sync.OnceFunc(func() {
	if os.Getenv(URLVar) != "" {
		return
	}
	for name, value := range loopbackEnv {
		_ = os.Setenv(name, value) // its only error is a bad name
	}
	_ = os.Unsetenv("AWS_SESSION_TOKEN")
})

// loopbackEnv is the environment of clients of servers on this machine.
var loopbackEnv = map[string]string{
	"AWS_ACCESS_KEY_ID":           "test",
	"AWS_SECRET_ACCESS_KEY":       "test",
	"AWS_REGION":                  region,
	"AWS_CONFIG_FILE":             os.DevNull,
	"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	"AWS_EC2_METADATA_DISABLED":   "true",
}
