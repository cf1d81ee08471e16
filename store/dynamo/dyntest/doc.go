// Package dyntest runs servers for tests that speak the protocol of DynamoDB, and a proxy in front of them that fails as DynamoDB does.
// make dynamo installs the servers. They end with the process that started them, however that ends.
//
// Most tests share one server and use a table each:
//
//	server := dyntest.Shared(t, dyntest.Dynoxide)
//	url := server.URL(server.TableName(t))
//
// Tests that kill, pause or restart their server start one with Start, or with StartOnDisk if its tables must survive.
//
// A proxy fails as told, from any goroutine:
//
//	proxy := server.Proxy(t)
//	url := proxy.URL(server.TableName(t))
//	proxy.FailNext(1, dyntest.LostAnswer, "PutItem")
//	proxy.Every(3) // every third request fails, each time in another way
//	proxy.Heal()
//
// The environment variable ROTA_TEST_DYNAMODB has Shared use DynamoDB itself in place of Dynoxide: dynamodb://PREFIX?region=REGION, with an
// endpoint if it is not that of the region. The names of the tables of tests begin with PREFIX.
package dyntest
