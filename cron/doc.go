// Package cron says when: it turns CRON, AT and EVERY into fire times.
package cron
