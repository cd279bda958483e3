"""Components on the SDK's mocks."""
