// Package api has the tests of schemas, rights and admission policies. They run against a real API server on which
// the chart is installed.
package api
