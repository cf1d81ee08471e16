// Package report sends failed attempts and check-ins of schedules to Sentry. A Sentry is an
// engine.Monitor:
//
//	reports, err := report.NewSentry(dsn, report.Config{Environment: "production", Release: "shop@1.2.3"})
//	engine.New(client, reg, engine.Config{Reporter: reports}).Run(ctx)
//	reports.Close(ctx)
//
// Scrub and ScrubText remove secrets from everything that is sent. Other implementations of
// Reporter can use them too.
package report
