package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rotajobs/rota"
)

// dynamoUnitsBenchmarks count what DynamoDB bills for a job from its enqueue to its end.
func dynamoUnitsBenchmarks() (all []benchmark) {
	for _, one := range []struct {
		name, parameters string
		size             int
		keyed            bool // each job has a unique key
		most             float64
	}{
		{"thousands", "&layout=off", 1000, false, 1.5},
		{"thousands, layout", "", 1000, false, 3.5},
		{"one at a time", "&layout=off", 1, false, 0},
		{"one at a time, layout", "", 1, false, 6},
		{"one at a time, layout, key", "", 1, true, 0},
	} {
		name := dynamoCase + "units/" + strings.ReplaceAll(strings.ReplaceAll(one.name, ", ", "-"), " ", "-")
		all = append(all, benchmark{
			cases: []string{name},
			bars:  []bar{{caseName: name, subject: "rota", most: one.most}},
			run: func(b *bench) error {
				b.report.explain(name, "Write units of enqueue, claim and finish, "+one.name+", with params of the size of the other cases.")
				return b.compare(name, dynamoUnits(b, name, one.parameters, one.size, one.keyed))
			},
		})
	}
	return all
}

func dynamoUnits(b *bench, caseName, parameters string, size int, keyed bool) subject {
	turns := 2
	if size == 1 {
		turns = b.sized(40, 2)
	}
	var t *dynamoTable
	jobs := 0
	return subject{
		name: "rota",
		open: func() (err error) {
			if t, err = openDynamo(b, 1, 0, parameters+"count"); err == nil {
				time.Sleep(time.Second) // the lease of the leader
				t.proxy.ResetCounts()
			}
			return err
		},
		part: func(ctx context.Context) error {
			for range turns {
				batch := newJobs(size)
				for n := range batch {
					if keyed {
						batch[n].UniqueKey = rota.NewID().String()
					}
				}
				if err := dynamoCycle(ctx, t.stores[0], batch); err != nil {
					return err
				}
				jobs += size
			}
			return nil
		},
		close: func(context.Context) error {
			time.Sleep(time.Second)
			for t.stores[0].LayoutLag() > 0 {
				time.Sleep(100 * time.Millisecond)
			}
			counts := t.proxy.Counts()
			b.report.add(caseName, "rota", "write units", counts.Write/float64(jobs), "a job")
			b.report.add(caseName+"/read", "rota", "read units", counts.Read/float64(jobs), "a job")
			return t.close()
		},
	}
}

// dynamoOneBenchmark compares the time of one enqueue with that of a conditional put of the item that it writes.
func dynamoOneBenchmark() benchmark {
	name := dynamoCase + "one"
	return benchmark{
		cases: []string{name + medianTail, name + worstTail},
		bars:  []bar{{caseName: name + medianTail, subject: "rota", against: "put", most: dynamoPutShare}},
		run: func(b *bench) error {
			b.report.explain(name, "Each request takes 5 ms longer. put: a conditional put of an item of the same size, with the client of the SDK.")
			return b.compare(name, dynamoOne(b, name, "rota"), dynamoOne(b, name, "put"))
		},
	}
}

func dynamoOne(b *bench, caseName, name string) subject {
	turns := b.sized(60, 3)
	var t *dynamoTable
	var times []time.Duration
	var work func(context.Context) error
	return subject{
		name: name,
		open: func() (err error) {
			if t, err = openDynamo(b, 1, dynamoDelay, "&layout=off"); err != nil {
				return err
			}
			work = func(ctx context.Context) error { return enqueue(ctx, t.stores[0], newJobs(1)) }
			if name == "put" {
				work, err = t.putter(b.ctx)
			}
			return err
		},
		part: func(ctx context.Context) error {
			for range turns {
				begun := time.Now()
				if err := work(ctx); err != nil {
					return err
				}
				times = append(times, time.Since(begun))
			}
			return nil
		},
		close: func(context.Context) error {
			b.report.addTimes(caseName, name, "time of one", times)
			return t.close()
		},
	}
}

// putter returns a function that puts the item of an enqueue under a new key.
func (t *dynamoTable) putter(ctx context.Context) (func(context.Context) error, error) {
	if err := enqueue(ctx, t.stores[0], newJobs(1)); err != nil {
		return nil, err
	}
	c, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRegion(t.server.Region()))
	if err != nil {
		return nil, err
	}
	client := dynamodb.NewFromConfig(c, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(t.proxy.Endpoint()) })
	index := t.applied()
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &t.name, Key: map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: fmt.Sprintf("rota#log#%d", index%16)},
		"SK": &types.AttributeValueMemberS{Value: fmt.Sprintf("%020d", index)},
	}})
	if err == nil && len(out.Item) == 0 {
		err = errors.New("the slot of the enqueue is not there")
	}
	if err != nil {
		return nil, err
	}
	n := 0
	return func(ctx context.Context) error {
		n++
		out.Item["PK"] = &types.AttributeValueMemberS{Value: "bench"}
		out.Item["SK"] = &types.AttributeValueMemberS{Value: fmt.Sprintf("%020d", n)}
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &t.name, Item: out.Item, ConditionExpression: aws.String("attribute_not_exists(PK)")})
		return err
	}, nil
}
