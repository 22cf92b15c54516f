// Package execute derives the next steps of jobs from an observation and the committed plan. It also rents, borrows,
// marks and returns nodes to match that plan.
package execute
