package dynamo

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// Options are the parts of the URL of a store: dynamodb://TABLE?region=REGION.
type Options struct {
	Table    string
	Region   string        // empty: as the AWS SDK finds it
	Endpoint string        // empty: that of the region
	Poll     time.Duration // how often an idle process reads the log, and items of other programs
	Page     int           // items of other programs that one request reads
	Skew     time.Duration // how exactly a process must know the time of the service to write
	Layout   bool          // jobs are items of their own too, for other programs
}

// The defaults and bounds of the parameters.
const (
	pollDefault, pollMin, pollMax = 30 * time.Second, 100 * time.Millisecond, time.Hour
	pageDefault, pageMax          = 25, 1_000
	skewDefault, skewMin, skewMax = time.Second, 100 * time.Millisecond, time.Minute
)

// Scheme is the scheme of the URL of a store.
const Scheme = "dynamodb"

// tableName is what DynamoDB accepts.
var tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// parameters are the parameters of the URL.
var parameters = map[string]func(*Options, string) error{
	"region": func(o *Options, value string) error {
		if !regexp.MustCompile(`^[a-z0-9-]{1,64}$`).MatchString(value) {
			return rota.Invalidf("region", "is %q; write one such as eu-west-1", value)
		}
		o.Region = value
		return nil
	},
	"endpoint": func(o *Options, value string) error {
		u, err := url.Parse(value)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return rota.Invalidf("endpoint", "is %q; write a URL such as http://127.0.0.1:8000", value)
		}
		o.Endpoint = value
		return nil
	},
	"poll": func(o *Options, value string) (err error) {
		o.Poll, err = parseDuration("poll", value, pollMin, pollMax)
		return err
	},
	"skew": func(o *Options, value string) (err error) {
		o.Skew, err = parseDuration("skew", value, skewMin, skewMax)
		return err
	},
	"page": func(o *Options, value string) (err error) {
		if o.Page, err = strconv.Atoi(value); err != nil || o.Page < 1 || o.Page > pageMax {
			return rota.Invalidf("page", "is %q; allowed are 1 to %d", value, pageMax)
		}
		return nil
	},
	"layout": func(o *Options, value string) error {
		if value != "on" && value != "off" {
			return rota.Invalidf("layout", "is %q; allowed are on and off", value)
		}
		o.Layout = value == "on"
		return nil
	},
}

func parseDuration(name, value string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < least || d > most {
		return 0, rota.Invalidf(name, "is %q; allowed are %s to %s, such as %s=%s", value, least, most, name, least)
	}
	return d, nil
}

// ParseURL parses the URL of a store. It refuses what it does not know.
func ParseURL(raw string) (Options, error) {
	o := Options{Poll: pollDefault, Page: pageDefault, Skew: skewDefault, Layout: true}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != Scheme || u.Opaque != "" {
		return o, rota.Invalidf("store", "is no URL of a DynamoDB table; write dynamodb://TABLE?region=REGION")
	}
	o.Table = u.Host
	switch {
	case u.User != nil:
		return o, rota.Invalidf("store", "must not contain credentials; use a role, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
	case !tableName.MatchString(o.Table):
		return o, rota.Invalidf("store", "names the table %q; a name has 3 to 255 letters, digits, dots, hyphens and underscores", o.Table)
	case strings.Trim(u.Path, "/") != "" || u.Fragment != "":
		return o, rota.Invalidf("store", "has %q after the table; parameters begin with a question mark", u.Path+u.Fragment)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return o, rota.Invalidf("store", "has parameters that cannot be read: %v", err)
	}
	for name, values := range query {
		parse, known := parameters[name]
		switch {
		case !known:
			return o, rota.Invalidf("store", "has the unknown parameter %q; known are %s", name, strings.Join(parameterNames(), ", "))
		case len(values) > 1:
			return o, rota.Invalidf("store", "has the parameter %s twice", name)
		}
		if err := parse(&o, values[0]); err != nil {
			return o, err
		}
	}
	return o, nil
}

func parameterNames() (names []string) {
	for name := range parameters {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// LeaseMin is the shortest lease that the clocks of several processes can keep.
func (o *Options) LeaseMin() time.Duration { return 10 * o.Skew }
