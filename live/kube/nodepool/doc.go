// Package nodepool rents, borrows, marks and returns nodes of a queue to match the committed plan.
package nodepool
