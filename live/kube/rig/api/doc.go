// Package api has the tests of what the API server itself keeps: the schemas of our kinds,
// who may do what, and the admission policies of the chart. They run against a real API
// server on which the chart is installed.
package api
