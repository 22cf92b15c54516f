// Package execute derives the next steps of jobs from an observation and the committed plan.
package execute
