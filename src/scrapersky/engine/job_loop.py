"""The plain way in: a model of your own and an `async def f(item_id, session)`."""
